import Analytics
import RelayTestKit
import Testing

@Test("the contract is as it was released") func contract() throws {
    try ContractFile.check(Analytics1.self, at: "Contracts/org.example.Analytics1.contract")
}
