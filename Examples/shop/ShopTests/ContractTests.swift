import RelayTestKit
import Shop
import Testing

@Test("the shop's contracts are as they were released") func contract() throws {
    try ContractFile.check(Orders1.self, at: "Contracts/org.example.shop.Orders1.contract")
    try ContractFile.check(Climate1.self, at: "Contracts/org.example.shop.Climate1.contract")
}
