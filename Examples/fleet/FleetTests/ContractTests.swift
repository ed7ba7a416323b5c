import Fleet
import RelayTestKit
import Testing

@Test("the contracts are as they were released") func contract() throws {
    try ContractFile.check(RingTelemetry1.self, at: "Contracts/org.example.fleet.RingTelemetry1.contract")
    try ContractFile.check(SignalTelemetry1.self, at: "Contracts/org.example.fleet.SignalTelemetry1.contract")
}
