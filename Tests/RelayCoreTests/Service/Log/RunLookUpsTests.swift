import TestTraits
import Testing

@testable import RelayBus
@testable import RelayCore

@Suite("Calls that wait until the log has found a run", .tags(.g3)) struct RunLookUpsTests {
    private func entry(_ peer: String, _ number: Int) -> RunLookUps.Entry {
        RunLookUps.Entry(peer: peer, bytes: 3, interface: "a.b\(number)", question: RunQuestion(epoch: 1, after: 1))
    }
    @Test("of each peer one is with the log, the others wait in their order, and too many are refused") func line() {
        let ledger = PeerLedger()
        var lookUps = RunLookUps(ledger)
        func enqueue(_ peer: String, _ number: Int) -> String {
            switch lookUps.enqueue(entry(peer, number), completion: { _ in }) {
            case .begin(let job): "begin \(job.entry.interface)"
            case .wait: "wait"
            case .refused: "refused"
            }
        }
        #expect(enqueue(":1.1", 1) == "begin a.b1" && enqueue(":1.2", 2) == "begin a.b2")
        for number in 11...73 { #expect(enqueue(":1.1", number) == "wait") }
        #expect(enqueue(":1.1", 74) == "refused" && enqueue(":1.2", 75) == "wait")
        for number in 11...73 { #expect(lookUps.end(":1.1")?.entry.interface == "a.b\(number)") }
        #expect(lookUps.end(":1.1") == nil && lookUps.end(":1.1") == nil)
        #expect(enqueue(":1.1", 76) == "begin a.b76", "all was given back")
        #expect(lookUps.end(":1.2")?.entry.interface == "a.b75")
        #expect(ledger.held(.runCalls, of: ":1.1") == 1 && ledger.held(.runBytes, of: ":1.2") == 3)
    }
}
