import RelayCore
import RelayTool
import Synchronization

@testable import relay_cli

/// What a program under test reported on stderr.
final class Notes: Sendable {
    let lines = Mutex<[String]>([])
}
/// The end of a program that the test wakes.
struct WokenEnd: EndRequest {
    let wakeup: Wakeup
    var descriptor: Int32 { wakeup.descriptor }
}

extension Tool {
    static let testedEnvironment = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"]

    /// The program as tests run it: at `Samples.time`, as user 1000, without a process of its own.
    ///
    /// - Parameters:
    ///   - notes: keeps what it reports.
    ///   - wakeup: ends it; nil: it may not ask for its end.
    ///   - lastNote: the line that ends it.
    ///   - columns: of the terminal.
    ///   - peer: the bus, where it is asked itself; nil: it cannot be.
    static func tested(
        environment: [String: String] = testedEnvironment, output: Int32, isTerminal: Bool = false, _ notes: Notes,
        wakeup: Wakeup? = nil, endsAt lastNote: String? = nil, columns: Int? = nil, peer: FakePeer? = nil,
        connect: @escaping Connect
    ) -> Tool {
        Tool(
            environment: environment, output: output, isTerminal: isTerminal, time: Samples.time,
            locator: BusLocator(environment: environment, userID: 1_000) { _ in nil },
            note: { line in
                notes.lines.withLock { $0.append(line) }
                if let wakeup, line == lastNote { wakeup.wake() }
            },
            connect: connect,
            stop: { () throws(CLIFailure) in
                guard let wakeup else { throw CLIFailure(.software, "not to be asked") }
                return WokenEnd(wakeup: wakeup)
            },
            openPeer: { (_, _) throws(RelayError) in
                guard let peer else { throw RelayError(.unavailable, "no bus") }
                return peer
            }, columns: columns)
    }
}
