package import BusProcess
import Glibc
public import RelayCore

/// A bus for one test: a daemon with a temporary folder. It ends when this value is released, or with the process.
///
/// ```swift
/// let bus = try PrivateBus()
/// let service = try EventService(name: name, on: bus.bus, exporting: Printing1.self, journal: MemoryLog())
/// ```
public final class PrivateBus: Sendable {
    /// The address of the bus.
    public let address: String
    /// The bus for `on:` of services and relays.
    public var bus: Bus { .address(address) }
    /// The folder of the socket. A test can put other files there.
    public let directory: String
    /// The daemon.
    package let process: ChildProcess
    /// Kept for what a broker needs beside its process.
    private let broker: BrokerDaemon?

    /// Starts a `dbus-daemon`.
    ///
    /// - Throws: `.notFound` if it is not installed, `.unavailable` if it does not start.
    public convenience init() throws { try self.init(limits: .session) }
    package init(limits: BusDaemon.Limits, policy: String = "") throws {
        directory = try Self.temporaryDirectory()
        let daemon = try BusDaemon(directory: directory, limits: limits, policy: policy)
        (address, process, broker) = (daemon.address, daemon.process, nil)
    }
    /// Starts a `dbus-broker`, in which each user may have so many bytes waiting.
    package init(brokerWith bytes: Int) throws {
        directory = try Self.temporaryDirectory()
        let broker = try BrokerDaemon(directory: directory, bytes: bytes)
        (address, process, self.broker) = (broker.address, broker.process, broker)
    }
    deinit {
        process.terminate()
        for name in ["bus", "bus.conf", "bus.log"] { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }
    /// The daemon's process id, to stop or kill it.
    public var processID: Int32 { process.processID }
    /// Ends the daemon, and waits until it has ended.
    public func stop() async {
        process.terminate()
        _ = await process.waitForExit()
    }

    private static func temporaryDirectory() throws -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/eventrelay-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw RelayError(
                .unavailable, "no temporary folder in \(parent): \(SystemError(errno))", cause: SystemError(errno))
        }
        return String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
