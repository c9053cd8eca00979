//! Trial.
use crate::{plan, seccomp, spec::Spec, sys};
use std::ffi::OsString;
/// Trial.
pub fn trial(spec: &Spec, argv: &[OsString], show: bool) -> Result<i32, String> {
    let host = sys::host(spec);
    let plan = plan::plan(spec, &host).map_err(|e| e.to_string())?;
    if show {
        return Err(plan.to_string());
    }
    let argv: Vec<_> = argv.iter().map(|a| sys::c_text(a)).collect();
    let order = sys::Order {
        plan: &plan,
        limits: vec![],
        filter: seccomp::filter(seccomp::Abi::here().unwrap(), seccomp::Sockets::Namespaced),
        observe: None,
        programs: vec![argv[0].clone()],
        argv,
        cwd: &spec.workspace,
        streams: [Some(100), Some(101), Some(102)],
    };
    for i in 0..3 {
        let _ = unsafe { libc::dup3(i, 100 + i, libc::O_CLOEXEC) };
    }
    let mut jail = sys::make(order, |_| Ok(())).map_err(|e| format!("{e:?}"))?;
    let x = jail.go().map_err(|e| format!("{e:?}"))?;
    if let Err(e) = x {
        return Err(format!("not started {e:?}"));
    }
    let mut buf = [0u8; 4];
    let _ = rustix::io::read(&jail.status, &mut buf);
    jail.reap();
    Ok(i32::from_le_bytes(buf))
}
