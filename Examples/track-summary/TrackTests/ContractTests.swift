import RelayTestKit
import Testing
import Tracks

@Test("the contract is as it was released") func contract() throws {
    try ContractFile.check(Tracks1.self, at: "Contracts/org.example.Tracks1.contract")
}
