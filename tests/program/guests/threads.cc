// SPDX-License-Identifier: GPL-2.0-or-later
//
// threads_cxx: what C++ has of threads.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <iostream>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static thread_local int mine = 5;

int main()
{
    std::atomic<long> sum{0};
    std::mutex lock;
    std::condition_variable changed;
    std::deque<int> queue;
    std::vector<std::thread> all;
    for (int i = 0; i < 6; i++)
        all.emplace_back([&, i] {
            mine += i;
            for (int k = 0; k < 50; k++) {
                std::unique_lock<std::mutex> held(lock);
                if (i % 2) {
                    queue.push_back(k);
                    changed.notify_one();
                } else {
                    changed.wait(held, [&] { return !queue.empty(); });
                    sum += queue.front();
                    queue.pop_front();
                }
            }
            sum += mine;
        });
    for (auto &thread : all)
        thread.join();
    auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("in a thread"); });
    std::string what;
    try {
        failing.get();
    } catch (const std::exception &e) {
        what = e.what();
    }
    std::promise<int> promise;
    std::thread late([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        promise.set_value(42);
    });
    auto future = promise.get_future();
    const bool early = future.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout;
    std::cout << sum << " " << queue.size() << " " << what << " " << early << " " << future.get() << "\n";
    late.join();
}
