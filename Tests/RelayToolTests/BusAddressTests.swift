import RelayCore
import TestTraits
import Testing

@testable import RelayTool

@Suite("Addresses on the command line", .tags(.g8))
struct BusAddressTests {
    @Test(
        "the shape of an address is enough",
        arguments: ["unix:path=/a", "unix:path=/a;tcp:host=b,port=1", "autolaunch:"])
    func legal(_ text: String) throws { #expect(try BusAddress.check(text) == text) }

    @Test(
        "what has none is refused with an example",
        arguments: ["", "/run/bus", "nonsense", ":", "unix:path=/a;", ":::;;"])
    func refused(_ text: String) {
        let error = #expect(throws: RelayError.self) { try BusAddress.check(text) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("'\(text)' is no D-Bus address; one looks like unix:path=") == true)
    }
}
