// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a heap of large elements moves whole elements up and down.
// Truth: a queue of 20,000 events of 128 bytes each, 2.4 MiB, moves an event for each step down and up, in places that
// follow no order. With times and numbers in the heap, 16 bytes each, events stay where they are.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <vector>

struct event {
    uint64_t time, fired;
    uint64_t state[14];
};

#ifdef CURED
struct key {
    uint64_t time;
    uint32_t number;
    bool operator<(const key &other) const { return time > other.time; }
};
static std::vector<event> events;
static uint64_t time_of(const key &key) { return key.time; }
static event &event_of(key &key) { return events[key.number]; }
static key add(uint64_t time)
{
    events.push_back({time, 0, {}});
    return {time, static_cast<uint32_t>(events.size() - 1)};
}
#else
struct key : event {
    bool operator<(const key &other) const { return time > other.time; } // here
};
static uint64_t time_of(const key &key) { return key.time; }
static event &event_of(key &key) { return key; }
static key add(uint64_t time) { return {{time, 0, {}}}; }
#endif

int main(int argc, char **argv)
{
    const uint32_t count = argc > 1 ? strtoul(argv[1], nullptr, 0) : 20000;
    std::priority_queue<key> queue;
    uint64_t random = 88172645463325252, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        queue.push(add(random % 1000000)); // here
    }
    for (uint32_t i = 0; i < 2 * count; i++) {
        key next = queue.top();
        queue.pop(); // here
        sum = sum * 31 + time_of(next) + event_of(next).fired++;
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        next.time += random % 100000;
        queue.push(next); // here
    }
    printf("%llu\n", static_cast<unsigned long long>(sum));
}
