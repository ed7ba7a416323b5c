import RelayTestKit
import Scores
import Testing

@Test("the contract is as it was released") func contract() throws {
    try ContractFile.check(Scores1.self, at: "Contracts/org.example.Scores1.contract")
}
