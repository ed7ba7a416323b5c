import Glibc
import RelayCore
import Testing

@testable import relay_cli
import RelayWire

@Suite("The programs behind top's subscribers") struct TopProgramsTests {
    @Test("each is asked about once, while it is there; without a connection nobody is known") func asked() {
        let peer = FakePeer { call throws(RelayError) in
            // Of all others the bus knows no process.
            let isOurs = call.body.contains(UInt8(ascii: "5"))
            if !isOurs { throw FakePeer.refusal("NameHasNoOwner", "no", calling: call) }
            return FakePeer.reply("u") { $0.uint32(UInt32(getpid())) }
        }
        let programs = TopPrograms(peer)
        let found = programs.programs(of: [":1.5", ":1.6"])
        #expect(found.keys.sorted() == [":1.5"] && found[":1.5"]?.isEmpty == false && peer.calls.count == 2)
        #expect(programs.programs(of: [":1.5", ":1.6"]) == found && peer.calls.count == 2)
        #expect(programs.programs(of: [":1.6"]).isEmpty && peer.calls.count == 2)
        // It left and came back: it may be another.
        #expect(programs.programs(of: [":1.5"]) == found && peer.calls.count == 3)
        #expect(TopPrograms(nil).programs(of: [":1.5"]).isEmpty)
    }
}
