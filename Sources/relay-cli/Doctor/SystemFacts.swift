import CRelayShims
import Glibc
import RelayCore

/// What the doctor asks the system, and not the bus.
struct SystemFacts: Sendable {
    var userID: UInt32
    var clockIsSynchronised: @Sendable () -> Bool
    /// How many descriptors this process may have.
    var descriptorLimit: @Sendable () -> UInt64
    /// What keeps this system from sealing memory; nil: nothing.
    var sealingFailure: @Sendable () -> RelayError?
    /// What is wrong with memory that a service has sent; nil: nothing.
    var ringFault: @Sendable (ReceivedDescriptor) -> RelayError?
    var pause: @Sendable (Duration) -> Void
    var account: @Sendable () -> UserAccount = { .ofProcess() }
    /// A group by its name or number; nil: the system has none.
    var group: @Sendable (_ title: String) -> UserGroup? = { .named($0) }
    /// The rules of a bus; nil: they are not known here.
    var policy: @Sendable (BusChoice, any BusPeer) -> BusPolicy? = { PolicyFiles.policy(of: $0, $1) }
    /// The last line that a unit's processes have logged; nil: there is none, or this user may not read it.
    var lastLine: @Sendable (_ unit: String, _ isUserUnit: Bool) -> String? = {
        UnitLog.lastLine(of: $0, isUserUnit: $1)
    }
    var programFile: @Sendable (_ path: String) -> ProgramFile = { ProgramFile.at($0) }
}

extension SystemFacts {
    static func ofProcess() -> SystemFacts {
        SystemFacts(
            userID: geteuid(), clockIsSynchronised: { relay_clock_is_synchronized() },
            descriptorLimit: {
                var limit = rlimit()
                return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? UInt64(limit.rlim_cur) : 0
            },
            sealingFailure: {
                do throws(RelayError) {
                    let memory = try SealedMemory(creating: "relay-doctor", size: 4_096, seals: .readOnly)
                    // As a subscriber takes it.
                    _ = try SealedMemory(receiving: memory.number, size: 4_096, seals: .readOnly)
                    return nil
                } catch { return error }
            },
            ringFault: { descriptor in
                do throws(RelayError) {
                    _ = try descriptor.withNumber { number throws(RelayError) in
                        try SealedMemory.checkedSize(of: number, seals: .readOnly)
                    }
                    return nil
                } catch { return error }
            },
            pause: { duration in
                let (seconds, attoseconds) = duration.components
                usleep(useconds_t(seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
            })
    }
}
