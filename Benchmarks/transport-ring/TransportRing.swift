import CTransportSupport
import Glibc
import RelayCore

/// The bare ring between two processes: no service, no bus, no types.
@main enum TransportRing {
    static func main() {
        let run = UnsafeMutablePointer<transport_run>.allocate(capacity: 1)  // One for the process: never given back.
        run.initialize(to: transport_begin(CommandLine.argc, CommandLine.unsafeArgv))
        do {
            if run.pointee.options.sends { try RingSender(run).sendAll() } else { try RingListener(run).receiveAll() }
        } catch {
            transport_fail("transport-ring", "\(error)")
        }
    }
    /// A descriptor of another process of this user. A service hands them over by D-Bus; what is measured is the same.
    static func descriptor(_ number: UInt64, of process: UInt64, _ flags: Int32) throws(RelayError) -> Int32 {
        let path = "/proc/\(process)/fd/\(number)"
        let descriptor = open(path, flags | O_CLOEXEC)
        if descriptor >= 0 { return descriptor }
        throw RelayError(.unavailable, "cannot open \(path): errno \(errno)")
    }
}
