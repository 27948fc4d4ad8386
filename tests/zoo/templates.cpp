// SPDX-License-Identifier: GPL-2.0-or-later
/* Deep templates; work in the leaf alternates with exceptions thrown through the frames.
 * truth: @start;main;zoo::begin;zoo::Nest<{7..0}, std::pair<int, char> >::down;zoo::hot
 * truth: @start;main;zoo::begin;zoo::Nest<{7..0}, std::pair<int, char> >::down;zoo::thrower;~__cxa_.*|_Unwind_.*|.*@plt;*
 * truth: @start;main;zoo::begin;zoo::Nest<{7..1}, std::pair<int, char> >::down;~_Unwind_.*|zoo::Guard::~Guard|.*@plt;*
 * truth: @start;main;zoo::begin;zoo::Nest<{7..2}, std::pair<int, char> >::down;~_Unwind_.*|zoo::Guard::~Guard|.*@plt;*
 * truth: @start;main;zoo::begin;zoo::Nest<{7..3}, std::pair<int, char> >::down;~_Unwind_.*|zoo::Guard::~Guard|.*@plt;*
 * truth: @start;main;zoo::begin;zoo::Nest<{7..5}, std::pair<int, char> >::down;~_Unwind_.*|zoo::Guard::~Guard|.*@plt;*
 * truth: @start;main;zoo::begin;zoo::Nest<{7..6}, std::pair<int, char> >::down;~_Unwind_.*|zoo::Guard::~Guard|.*@plt;*
 * truth: @start;main;zoo::begin;zoo::Nest<{7..7}, std::pair<int, char> >::down;~_Unwind_.*|zoo::Guard::~Guard|.*@plt;*
 * truth: @start;main;zoo::begin;zoo::Nest<{7..4}, std::pair<int, char> >::down;~__cxa_.*|.*@plt;*
 */
#include <utility>

#include "zoo.h"

namespace zoo {

FRAME uint64_t hot(uint64_t x, int n)
{
    SPIN(x, n);
    return x;
}

FRAME uint64_t thrower(uint64_t x)
{
    throw x;
}

struct Guard {
    volatile uint64_t *count;
    FRAME ~Guard() { ++*count; }
};
volatile uint64_t guarded;

template <int Depth, typename T> struct Nest {
    static FRAME uint64_t down(uint64_t x, bool work)
    {
        Guard guard{ &guarded };
        return Nest<Depth - 1, T>::down(x, work) + sizeof(T);
    }
};
template <typename T> struct Nest<4, T> {
    static FRAME uint64_t down(uint64_t x, bool work)
    {
        try {
            return Nest<3, T>::down(x, work) + 1;
        } catch (uint64_t thrown) {
            return thrown + 1;
        }
    }
};
template <typename T> struct Nest<0, T> {
    static FRAME uint64_t down(uint64_t x, bool work) { return (work ? hot(x, LONG) : thrower(x)) + sizeof(T); }
};

FRAME uint64_t begin(uint64_t x, bool work)
{
    return Nest<7, std::pair<int, char>>::down(x, work) + 1;
}

} // namespace zoo

int main()
{
    volatile uint64_t x = 1;
    zoo_ready();
    for (unsigned i = 0;; i++)
        x = zoo::begin(x, i % 64 == 0);
}
