//! Rules for the source tree. Each is a function from files to offenses, and proves on a small broken tree that it finds
//! them.

mod arrows;
mod attacks;
mod circles;
mod imports;
mod source;
mod supply;
mod words;
