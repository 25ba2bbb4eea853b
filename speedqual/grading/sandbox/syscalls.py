"""System call numbers by architecture: what a test may call, what is checked by argument, what a compiler may not call.

Each entry is ``name:x86_64:aarch64``, ``-`` where the architecture has no such call. Source: the kernel's
``unistd_64.h`` and ``asm-generic/unistd.h``.
"""

from __future__ import annotations

import platform

__all__ = ["ARCHITECTURES", "allowed", "audit_architecture", "denied", "number"]

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Machine name → (column of the tables, the kernel's AUDIT_ARCH constant)."""

_ALLOWED = """
read:0:63 write:1:64 readv:19:65 writev:20:66 pread64:17:67 pwrite64:18:68 preadv:295:69 pwritev:296:70
close:3:57 close_range:436:436 open:2:- openat:257:56 stat:4:- fstat:5:80 lstat:6:- newfstatat:262:79
statx:332:291 lseek:8:62 mmap:9:222 munmap:11:215 mprotect:10:226 mremap:25:216 madvise:28:233 brk:12:214
rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigpending:127:136 rt_sigtimedwait:128:137
rt_sigsuspend:130:133 sigaltstack:131:132 access:21:- faccessat:269:48 pipe:22:- pipe2:293:59 select:23:-
pselect6:270:72 poll:7:- ppoll:271:73 epoll_create1:291:20 epoll_ctl:233:21 epoll_wait:232:- epoll_pwait:281:22
eventfd2:290:19 sched_yield:24:124 nanosleep:35:101 clock_nanosleep:230:115 clock_gettime:228:113
clock_getres:229:114 gettimeofday:96:169 time:201:- getpid:39:172 getppid:110:173 gettid:186:178 getuid:102:174
geteuid:107:175 getgid:104:176 getegid:108:177 getgroups:115:158 getpgid:121:155 getpgrp:111:- getsid:124:156
getresuid:118:148 getresgid:120:150 getrlimit:97:163 getrusage:98:165 sysinfo:99:179 times:100:153 uname:63:160
getcwd:79:17 chdir:80:49 fchdir:81:50 fdatasync:75:83 fsync:74:82 ftruncate:77:46 getdents64:217:61 dup:32:23
dup2:33:- dup3:292:24 readlink:89:- readlinkat:267:78 unlink:87:- unlinkat:263:35 rename:82:- renameat:264:38
renameat2:316:276 umask:95:166 futex:202:98 set_robust_list:273:99 get_robust_list:274:100
set_tid_address:218:96 exit:60:93 exit_group:231:94 arch_prctl:158:- getrandom:318:278 sched_getaffinity:204:123
getpriority:140:141 getitimer:36:102 setitimer:38:103 alarm:37:- pause:34:- restart_syscall:219:128 rseq:334:293
membarrier:324:283 getcpu:309:168 sendto:44:206 recvfrom:45:207 sendmsg:46:211 recvmsg:47:212 shutdown:48:210
getsockname:51:204 getpeername:52:205 getsockopt:55:209 setsockopt:54:208 fadvise64:221:223 flock:73:32
statfs:137:43 fstatfs:138:44 wait4:61:260 waitid:247:95
"""

_BY_ARGUMENT = """
clone:56:220 clone3:435:435 fork:57:- vfork:58:- execve:59:221 execveat:322:281 kill:62:129 tgkill:234:131
prlimit64:302:261 socketpair:53:199 ioctl:16:29 prctl:157:167 fcntl:72:25 openat2:437:437 faccessat2:439:439
"""

_DENIED = """
socket:41:198 bind:49:200 connect:42:203 listen:50:201 accept:43:202 accept4:288:242 ptrace:101:117
process_vm_readv:310:270 process_vm_writev:311:271 kcmp:312:272 pidfd_getfd:438:438 pidfd_send_signal:424:424
rt_sigqueueinfo:129:138 rt_tgsigqueueinfo:297:240 io_uring_setup:425:425 io_uring_enter:426:426
io_uring_register:427:427 keyctl:250:219 add_key:248:217 request_key:249:218 unshare:272:97 setns:308:268
mount:165:40 umount2:166:39 pivot_root:155:41 chroot:161:51 move_mount:429:429 open_tree:428:428 fsopen:430:430
fsconfig:431:431 fsmount:432:432 fspick:433:433 mount_setattr:442:442 bpf:321:280 perf_event_open:298:241
userfaultfd:323:282 seccomp:317:277 init_module:175:105 finit_module:313:273 delete_module:176:106
kexec_load:246:104 kexec_file_load:320:294 reboot:169:142 swapon:167:224 swapoff:168:225 sethostname:170:161
setdomainname:171:162 syslog:103:116 acct:163:89 quotactl:179:60 quotactl_fd:443:443 name_to_handle_at:303:264
open_by_handle_at:304:265 mknod:133:- mknodat:259:33 personality:135:92 setpriority:141:140
sched_setscheduler:144:119 sched_setattr:314:274 sched_setparam:142:118 ioprio_set:251:30 migrate_pages:256:238
move_pages:279:239 process_madvise:440:440 process_mrelease:448:448 settimeofday:164:170 clock_settime:227:112
clock_adjtime:305:266 adjtimex:159:171 iopl:172:- ioperm:173:- lookup_dcookie:212:18 nfsservctl:180:42
vhangup:153:58 modify_ldt:154:- fanotify_init:300:262 memfd_create:319:279 memfd_secret:447:447 shmget:29:194
shmat:30:196 msgget:68:186 semget:64:190 mq_open:240:180
"""


def _read(table: str) -> dict[str, tuple[str, str]]:
    entries = (entry.split(":") for entry in table.split())
    return {name: (x86, arm) for name, x86, arm in entries}


_TABLES = {**_read(_ALLOWED), **_read(_BY_ARGUMENT), **_read(_DENIED)}


def audit_architecture() -> int | None:
    """The AUDIT_ARCH constant of this machine; None where we have no numbers for it."""
    known = ARCHITECTURES.get(platform.machine())
    return known[1] if known else None


def number(name: str) -> int | None:
    """The number of a call on this machine; None where it does not exist."""
    known = ARCHITECTURES.get(platform.machine())
    digits = _TABLES[name][known[0]] if known else "-"
    return None if digits == "-" else int(digits)


def allowed() -> list[int]:
    """Calls that a test may make with any argument."""
    return _numbers(_ALLOWED)


def denied() -> list[int]:
    """Calls that not even a compiler may make."""
    return _numbers(_DENIED)


def _numbers(table: str) -> list[int]:
    found = (number(name) for name in _read(table))
    return [value for value in found if value is not None]
