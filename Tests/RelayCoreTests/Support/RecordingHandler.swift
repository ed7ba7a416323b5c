import RelayTestKit
import Synchronization

@testable import RelayCore

/// Keeps what a connection tells, and does what a test wants done at that moment, on the loop's thread.
final class RecordingHandler: BusHandler {
    struct Signal: Sendable, Equatable {
        var sender: String?
        var interface: String?
        var member: String?
        var signature = ""
        var body: [UInt8] = []
    }
    struct Seen: Sendable {
        var signals: [Signal] = []
        var calls: [IncomingCall] = []
        var disconnects: [RelayError] = []
        /// Members of signals and calls, replies that a test adds, "disconnected": in the order of arrival.
        var order: [String] = []
    }
    private let seen = Mutex(Seen())
    let onSignal = Mutex<(@Sendable (Signal) -> Void)?>(nil)
    let onCall = Mutex<(@Sendable (IncomingCall) -> Void)?>(nil)

    var all: Seen { seen.withLock { $0 } }
    /// Without the bus's own: NameAcquired and its like.
    var signals: [Signal] { all.signals.filter { $0.interface != "org.freedesktop.DBus" } }
    func note(_ text: String) { seen.withLock { $0.order.append(text) } }

    func signal(_ message: borrowing ReceivedMessage) {
        let signal = Signal(
            sender: message.sender, interface: message.interface, member: message.member, signature: message.signature,
            body: message.body)
        seen.withLock {
            $0.signals.append(signal)
            $0.order.append(signal.member ?? "-")
        }
        onSignal.withLock { $0 }?(signal)
    }
    func methodCall(_ call: IncomingCall) {
        seen.withLock {
            $0.calls.append(call)
            $0.order.append(call.member)
        }
        onCall.withLock { $0 }?(call)
    }
    func disconnected(_ reason: RelayError) {
        seen.withLock {
            $0.disconnects.append(reason)
            $0.order.append("disconnected")
        }
    }
}
