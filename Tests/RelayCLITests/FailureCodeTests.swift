import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("What a failure means for a script", .tags(.g8)) struct FailureCodeTests {
    @Test("a service whose disk is full: 74, as it ends itself with then") func full() {
        let error = RelayError(
            .storageFull, "full",
            cause: RemoteError(name: "org.eventrelay.Error.StorageFull", message: "the disk is full"))
        let failure = FailureMapping.failure(
            error, service: "org.example.A", interface: "org.example.A1", member: "Go", timeout: .seconds(1))
        #expect(failure.code == .outputFailed && failure.message.hasPrefix("Go: the disk is full"))
    }
}
