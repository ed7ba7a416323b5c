import Glibc

/// What libdispatch writes to the system's log.
package enum DispatchLog {
    /// Turns it off for this process, unless `LIBDISPATCH_LOG` in its environment says where it goes.
    ///
    /// libdispatch sets the priority of each of its threads, those of Swift's tasks and timers among them. It asks for
    /// more than an ordinary user may have, and under a filter of system calls for anything. Each refusal is harmless, and
    /// a line in the system's log: about two for each process, and more for one that runs for long.
    ///
    /// Call it first in `main`: while there is one thread, which changes the environment, and before libdispatch reads it.
    package static func turnOff() { setenv("LIBDISPATCH_LOG", "NO", 0) }
}
