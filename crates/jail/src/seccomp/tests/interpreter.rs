//! As much of the kernel's classic BPF as a filter may use.

use crate::seccomp::Abi;
use crate::seccomp::program::{AND, AT_LEAST, EQUAL, Instruction, JUMP, LOAD, RETURN};

/// Input that the kernel shows a filter: `struct seccomp_data`.
pub(super) struct Input {
    pub(super) number: u32,
    pub(super) abi: u32,
    pub(super) arguments: [u64; 6],
}

impl Input {
    pub(super) fn new(abi: Abi, number: u32, arguments: [u64; 6]) -> Self {
        Self { number, abi: abi.word(), arguments }
    }

    fn bytes(&self) -> Vec<u8> {
        let instruction_pointer = 0xdead_beef_dead_beef_u64;
        let wide = [instruction_pointer].into_iter().chain(self.arguments).flat_map(u64::to_le_bytes);
        [self.number, self.abi].into_iter().flat_map(u32::to_le_bytes).chain(wide).collect()
    }
}

/// Returns the program's result. It panics where the kernel would have refused to load it.
pub(super) fn run(program: &[Instruction], input: &Input) -> u32 {
    let bytes = input.bytes();
    let (mut at, mut accumulator) = (0, 0);
    loop {
        let Instruction { code, jt, jf, k } = program[at];
        at += 1;
        let held = match code {
            LOAD => {
                let place = k as usize;
                accumulator = u32::from_le_bytes(bytes[place..place + 4].try_into().unwrap());
                continue;
            }
            AND => {
                accumulator &= k;
                continue;
            }
            JUMP => {
                at += k as usize;
                continue;
            }
            RETURN => return k,
            EQUAL => accumulator == k,
            AT_LEAST => accumulator >= k,
            _ => panic!("no such instruction: {code:#x}"),
        };
        at += usize::from(if held { jt } else { jf });
    }
}

/// Checks what the kernel demands of a program before it runs: it may not be long, read outside, or leave its end.
/// Jumps only go forward, therefore a program that passes ends on every path, in a return.
pub(super) fn check(program: &[Instruction]) -> Result<(), String> {
    if program.is_empty() || program.len() >= 4096 {
        return Err(format!("{} instructions", program.len()));
    }
    let inside = |at: usize, skip: usize| at + 1 + skip < program.len();
    for (at, Instruction { code, jt, jf, k }) in program.iter().copied().enumerate() {
        let fine = match code {
            LOAD => k % 4 == 0 && k < 64 && inside(at, 0),
            AND => inside(at, 0),
            JUMP => inside(at, k as usize),
            EQUAL | AT_LEAST => inside(at, jt.into()) && inside(at, jf.into()),
            RETURN => true,
            _ => false,
        };
        if !fine {
            return Err(format!("instruction {at}: {:?}", program[at]));
        }
    }
    Ok(())
}
