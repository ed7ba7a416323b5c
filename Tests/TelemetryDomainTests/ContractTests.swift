import RelayTestKit
import Telemetry
import Testing

@Suite("The telemetry contract") struct ContractTests {
    @Test("is as it was released") func file() throws {
        try ContractFile.check(Telemetry1.self, at: "Contracts/org.eventrelay.Telemetry1.contract")
    }
}
