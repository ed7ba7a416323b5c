import TestTraits
import Testing

@testable import RelayBus
@testable import RelayCore

@Suite("Calls that wait until the log has found a run", .tags(.g3)) struct RunLookUpsTests {
    private func entry(_ peer: String, _ serial: UInt32) -> RunLookUps.Entry {
        let call = IncomingCall(
            sender: peer, serial: serial, path: "/", interface: nil, member: "Attach", signature: "", body: [1, 2, 3],
            wantsReply: true)
        return RunLookUps.Entry(call: call, interface: "a.b", question: RunQuestion(epoch: 1, after: 1))
    }
    @Test("of each peer one is with the log, the others wait in their order, and too many are refused") func line() {
        let ledger = PeerLedger()
        var lookUps = RunLookUps(ledger)
        func enqueue(_ peer: String, _ serial: UInt32) -> String {
            switch lookUps.enqueue(entry(peer, serial), completion: { _ in }) {
            case .begin(let job): "begin \(job.entry.call.serial)"
            case .wait: "wait"
            case .refused: "refused"
            }
        }
        #expect(enqueue(":1.1", 1) == "begin 1" && enqueue(":1.2", 2) == "begin 2")
        for serial: UInt32 in 11...73 { #expect(enqueue(":1.1", serial) == "wait") }
        #expect(enqueue(":1.1", 74) == "refused" && enqueue(":1.2", 75) == "wait")
        for serial: UInt32 in 11...73 { #expect(lookUps.end(":1.1")?.entry.call.serial == serial) }
        #expect(lookUps.end(":1.1") == nil && lookUps.end(":1.1") == nil)
        #expect(enqueue(":1.1", 76) == "begin 76", "all was given back")
        #expect(lookUps.end(":1.2")?.entry.call.serial == 75)
        #expect(ledger.held(.runCalls, of: ":1.1") == 1 && ledger.held(.runBytes, of: ":1.2") == 3)
    }
}
