//! The filter that only tells.

use std::sync::mpsc;
use std::{mem, thread};

use ringfence_jail::seccomp::{self, NotifyOptions, Sockets, filter};

use crate::confined::{abi, install, listen, made};

#[test]
fn opens_are_told_and_refusals_are_not() {
    let (give, take) = mpsc::channel();
    let observed = thread::spawn(move || {
        install(&filter(abi(), Sockets::Namespaced));
        let heard = NotifyOptions { kept: false, observed: true };
        give.send(listen(&seccomp::listen(abi(), heard))).unwrap();
        let here = libc::AT_FDCWD.cast_unsigned().into();
        let create = libc::O_CREAT.cast_unsigned().into();
        let open = |flags, mode| {
            made(libc::SYS_openat, [here, c"/nonexistent/file".as_ptr() as u64, flags, mode, 0, 0])
        };
        let unaddressed = made(libc::SYS_sendto, [u64::MAX, 0, 0, 0, 0, 0]);
        [open(0, 0), open(create, 0o4755), unaddressed, made(libc::SYS_connect, [u64::MAX, 0, 0, 0, 0, 0])]
    });
    let told = tell_all(take.recv().unwrap());
    let answers = observed.join().unwrap();
    assert_eq!(answers, [Err(libc::ENOENT), Err(libc::EPERM), Err(libc::EBADF), Err(libc::EBADF)]);
    assert_eq!(told, [libc::SYS_openat, libc::SYS_connect]);
}

/// Lets every call go on; returns which they were once no process is left to make one.
fn tell_all(listener: i32) -> Vec<i64> {
    let mut told = Vec::new();
    loop {
        let mut poll = libc::pollfd { fd: listener, events: libc::POLLIN, revents: 0 };
        // SAFETY: one `pollfd`, which lives on this stack during the call.
        assert_eq!(unsafe { libc::poll(&raw mut poll, 1, -1) }, 1);
        if poll.revents & libc::POLLIN == 0 {
            // SAFETY: the descriptor was handed to this function alone.
            unsafe { libc::close(listener) };
            return told;
        }
        told.push(tell(listener));
    }
}

fn tell(listener: i32) -> i64 {
    // SAFETY: a struct of integers, for which zero is a value; the kernel insists on it.
    let mut call: libc::seccomp_notif = unsafe { mem::zeroed() };
    let control = |number, size, place| {
        made(libc::SYS_ioctl, [listener.cast_unsigned().into(), request(number, size), place, 0, 0, 0])
    };
    assert_eq!(control(0, size_of::<libc::seccomp_notif>(), (&raw mut call) as u64), Ok(0));
    let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE.try_into().unwrap();
    let answer = libc::seccomp_notif_resp { id: call.id, val: 0, error: 0, flags };
    assert_eq!(control(1, size_of::<libc::seccomp_notif_resp>(), (&raw const answer) as u64), Ok(0));
    call.data.nr.into()
}

/// `_IOWR` of linux/ioctl.h for the type `!`.
fn request(number: u64, size: usize) -> u64 {
    0xc000_0000 | u64::try_from(size).unwrap() << 16 | u64::from(b'!') << 8 | number
}
