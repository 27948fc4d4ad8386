// SPDX-License-Identifier: GPL-2.0-or-later
/* Generics, a trait object and a closure on one path.
 * truth: @start;main;..;iron::main;iron::begin;~iron::generic(::<iron::Solid>)?;iron::through_trait;<iron::Solid as iron::Thing>::act;iron::first;iron::with_closure;~iron::first::\{(closure#0|\{closure\})\}.*;iron::second;iron::third;iron::hot
 */
use std::hint::black_box;
use std::io::Write;

const LONG: u64 = 200_000;

#[inline(never)]
pub fn hot(mut x: u64, n: u64) -> u64 {
    for _ in 0..n {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    black_box(x)
}

#[inline(never)]
pub fn third(x: u64) -> u64 {
    black_box(hot(x, LONG)) + 1
}

#[inline(never)]
pub fn second(x: u64) -> u64 {
    black_box(third(x)) + 1
}

#[inline(never)]
pub fn with_closure(x: u64, f: &dyn Fn(u64) -> u64) -> u64 {
    black_box(black_box(f)(x)) + 1
}

#[inline(never)]
pub fn first(x: u64) -> u64 {
    let more = black_box(3);
    black_box(with_closure(x, &|y| black_box(second(y)) + more)) + 1
}

pub trait Thing {
    fn act(&self, x: u64) -> u64;
}
pub struct Solid(u64);
impl Thing for Solid {
    #[inline(never)]
    fn act(&self, x: u64) -> u64 {
        black_box(first(x)) + self.0
    }
}

#[inline(never)]
pub fn through_trait(thing: &dyn Thing, x: u64) -> u64 {
    black_box(black_box(thing).act(x)) + 1
}

#[inline(never)]
pub fn generic<T: Thing>(thing: T, x: u64) -> u64 {
    black_box(through_trait(&thing, x)) + 1
}

#[inline(never)]
pub fn begin(x: u64) -> u64 {
    black_box(generic(Solid(black_box(7)), x)) + 1
}

fn main() {
    println!("ready");
    std::io::stdout().flush().unwrap();
    let mut x = 88172645463325252;
    loop {
        x = begin(x);
    }
}
