//! The first process of a jail, and the one that cleans up after a supervisor that was killed.
//!
//! Both are one program of our own, a few hundred bytes of machine code in an ELF file that is made in memory. The first
//! process of a jail lives as long as the jail does; what it does not have in its memory nobody can find there, and what it
//! does not do cannot go wrong. Executing it is also what ends the sharing of memory with the supervisor.
//!
//! Started without arguments it is the first process: it reaps, tells every change of process 2 to descriptor 3 as four bytes of
//! wait status, and ends with it. The kernel then ends everything else in the jail.
//!
//! Started with arguments it waits for the end of its standard input and removes the directories they name: the cgroups
//! of a jail, which are busy until its last process is gone.

use std::arch::global_asm;

/// The program as a file.
pub(super) fn image() -> Vec<u8> {
    let code = code();
    let length = (HEADERS + code.len()) as u64;
    let mut image = Vec::with_capacity(HEADERS + code.len());
    image.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    // An executable for this machine, version 1.
    image.extend([2, 0]);
    image.extend(MACHINE.to_le_bytes());
    image.extend(1_u32.to_le_bytes());
    // Entry, program headers right after this header, no sections, no flags.
    image.extend([BASE + HEADERS as u64, 64, 0].map(u64::to_le_bytes).concat());
    image.extend(0_u32.to_le_bytes());
    image.extend([64_u16, 56, 2, 64, 0, 0].map(u16::to_le_bytes).concat());
    image.extend(program_header(LOAD, READ | EXECUTE, BASE, length));
    image.extend(program_header(GNU_STACK, READ | WRITE, 0, 0));
    image.extend(code);
    image
}

/// The file header and two program headers.
const HEADERS: usize = 64 + 2 * 56;
const BASE: u64 = 0x40_0000;
const LOAD: u32 = 1;
const GNU_STACK: u32 = 0x6474_e551;
const EXECUTE: u32 = 1;
const WRITE: u32 = 2;
const READ: u32 = 4;

#[cfg(target_arch = "x86_64")]
const MACHINE: u16 = 62;
#[cfg(target_arch = "aarch64")]
const MACHINE: u16 = 183;

fn program_header(kind: u32, rights: u32, address: u64, length: u64) -> Vec<u8> {
    let mut header = [kind, rights].map(u32::to_le_bytes).concat();
    // Offset in the file, address twice, length twice, alignment.
    header.extend([0, address, address, length, length, 0x1000].map(u64::to_le_bytes).concat());
    header
}

fn code() -> &'static [u8] {
    super::calls::between(&raw const ringfence_init_start, &raw const ringfence_init_end)
}

unsafe extern "C" {
    static ringfence_init_start: u8;
    static ringfence_init_end: u8;
}

#[cfg(target_arch = "x86_64")]
global_asm!(
    ".pushsection .rodata.ringfence_init, \"a\"",
    ".hidden ringfence_init_start",
    ".hidden ringfence_init_end",
    ".globl ringfence_init_start",
    ".globl ringfence_init_end",
    "ringfence_init_start:",
    "    cmp qword ptr [rsp], 1",
    "    jg 40f",
    // prctl(PR_SET_DUMPABLE, 0): nobody inside looks into this process.
    "    mov eax, 157",
    "    mov edi, 4",
    "    xor esi, esi",
    "    syscall",
    "    sub rsp, 16",
    // wait4(-1, status, WUNTRACED | __WALL, 0)
    "20: mov eax, 61",
    "    mov rdi, -1",
    "    mov rsi, rsp",
    "    mov edx, 0x40000002",
    "    xor r10d, r10d",
    "    syscall",
    "    cmp rax, 2",
    "    je 22f",
    "    test rax, rax",
    "    jns 20b",
    "    cmp rax, -4",
    "    je 20b",
    "    jmp 30f",
    // write(3, status, 4)
    "22: mov eax, 1",
    "    mov edi, 3",
    "    mov rsi, rsp",
    "    mov edx, 4",
    "    syscall",
    // Stopped only: it will be continued.
    "    cmp byte ptr [rsp], 0x7f",
    "    je 20b",
    // exit_group(0)
    "30: mov eax, 231",
    "    xor edi, edi",
    "    syscall",
    // setsid(): what ends the supervisor's process group does not end the cleaning up.
    "40: mov eax, 112",
    "    syscall",
    "    lea r12, [rsp + 16]",
    "    sub rsp, 32",
    // read(0, …, 1) until nobody can write any more.
    "41: xor eax, eax",
    "    xor edi, edi",
    "    mov rsi, rsp",
    "    mov edx, 1",
    "    syscall",
    "    test rax, rax",
    "    jg 41b",
    "    cmp rax, -4",
    "    je 41b",
    "    mov r13d, 500",
    "42: mov r14, r12",
    "    xor r15d, r15d",
    // rmdir(argument)
    "43: mov rdi, [r14]",
    "    test rdi, rdi",
    "    jz 45f",
    "    mov eax, 84",
    "    syscall",
    "    cmp rax, -16",
    "    jne 44f",
    "    mov r15d, 1",
    "44: add r14, 8",
    "    jmp 43b",
    "45: test r15d, r15d",
    "    jz 30b",
    "    dec r13d",
    "    jz 30b",
    // nanosleep(10 ms)
    "    mov qword ptr [rsp], 0",
    "    mov qword ptr [rsp + 8], 10000000",
    "    mov eax, 35",
    "    mov rdi, rsp",
    "    xor esi, esi",
    "    syscall",
    "    jmp 42b",
    "ringfence_init_end:",
    ".popsection",
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".pushsection .rodata.ringfence_init, \"a\"",
    ".balign 4",
    ".hidden ringfence_init_start",
    ".hidden ringfence_init_end",
    ".globl ringfence_init_start",
    ".globl ringfence_init_end",
    "ringfence_init_start:",
    "    ldr x0, [sp]",
    "    cmp x0, #1",
    "    b.gt 40f",
    // prctl(PR_SET_DUMPABLE, 0): nobody inside looks into this process.
    "    mov x8, #167",
    "    mov x0, #4",
    "    mov x1, #0",
    "    svc #0",
    "    sub sp, sp, #16",
    // wait4(-1, status, WUNTRACED | __WALL, 0)
    "20: mov x8, #260",
    "    mov x0, #-1",
    "    mov x1, sp",
    "    movz x2, #2",
    "    movk x2, #0x4000, lsl #16",
    "    mov x3, #0",
    "    svc #0",
    "    cmp x0, #2",
    "    b.eq 22f",
    "    cmp x0, #0",
    "    b.ge 20b",
    "    cmn x0, #4",
    "    b.eq 20b",
    "    b 30f",
    // write(3, status, 4)
    "22: mov x8, #64",
    "    mov x0, #3",
    "    mov x1, sp",
    "    mov x2, #4",
    "    svc #0",
    // Stopped only: it will be continued.
    "    ldrb w0, [sp]",
    "    cmp w0, #0x7f",
    "    b.eq 20b",
    // exit_group(0)
    "30: mov x8, #94",
    "    mov x0, #0",
    "    svc #0",
    // setsid(): what ends the supervisor's process group does not end the cleaning up.
    "40: mov x8, #157",
    "    svc #0",
    "    add x19, sp, #16",
    "    sub sp, sp, #32",
    // read(0, …, 1) until nobody can write any more.
    "41: mov x8, #63",
    "    mov x0, #0",
    "    mov x1, sp",
    "    mov x2, #1",
    "    svc #0",
    "    cmp x0, #0",
    "    b.gt 41b",
    "    cmn x0, #4",
    "    b.eq 41b",
    "    mov w20, #500",
    "42: mov x21, x19",
    "    mov w22, #0",
    // unlinkat(AT_FDCWD, argument, AT_REMOVEDIR)
    "43: ldr x1, [x21]",
    "    cbz x1, 45f",
    "    mov x8, #35",
    "    mov x0, #-100",
    "    mov x2, #0x200",
    "    svc #0",
    "    cmn x0, #16",
    "    b.ne 44f",
    "    mov w22, #1",
    "44: add x21, x21, #8",
    "    b 43b",
    "45: cbz w22, 30b",
    "    subs w20, w20, #1",
    "    b.eq 30b",
    // nanosleep(10 ms)
    "    str xzr, [sp]",
    "    movz x1, #0x9680",
    "    movk x1, #0x98, lsl #16",
    "    str x1, [sp, #8]",
    "    mov x8, #101",
    "    mov x0, sp",
    "    mov x1, #0",
    "    svc #0",
    "    b 42b",
    "ringfence_init_end:",
    ".popsection",
);
