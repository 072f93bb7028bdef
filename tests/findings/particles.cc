// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a flag in a big record costs a line to look at.
// Truth: 30,000 particles of 128 bytes; counting the living reads one byte of each: 1.9 MB of lines for 30 KB. The
// flags by themselves fit into L1D.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct alignas(64) particle {
    double position[3], velocity[3], force[3], mass, charge, radius;
    uint32_t kind;
#ifndef CURED
    uint8_t alive;
#endif
};

struct swarm {
    explicit swarm(size_t count) : particles(count)
    {
#ifdef CURED
        alive.resize(count);
#endif
    }
    std::vector<particle> particles;
#ifdef CURED
    std::vector<uint8_t> alive;
    uint8_t &is_alive(size_t i) { return alive[i]; }
#else
    uint8_t &is_alive(size_t i)
    {
        return particles[i].alive;
    }
#endif
};

__attribute__((noinline)) static uint64_t count_alive(swarm &swarm, uint64_t weight)
{
    uint64_t count = 0;
    for (size_t i = 0; i < swarm.particles.size(); i++)
        count += swarm.is_alive(i) * weight; // here
    return count;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 40;
    swarm swarm(30000);
    uint64_t sum = 0;
    for (size_t i = 0; i < swarm.particles.size(); i++)
        swarm.is_alive(i) = i % 3 != 0;
    for (int round = 1; round <= rounds; round++)
        sum += count_alive(swarm, round);
    printf("%llu %g\n", static_cast<unsigned long long>(sum), swarm.particles.back().mass);
    return 0;
}
