import RelayCore
import Relocation
import TestTraits
import Testing

@Suite("A refusal names what was refused", .tags(.g8)) struct RefusalTextTests {
    @Test("the box, the item, the capacity; of a text only how long it is") func values() {
        #expect(
            RemoveBox(boxID: 99).message(of: .unknownBox) == "there is no box 99; Contents lists those that there are")
        #expect(RemoveBox(boxID: 3).message(of: .noRoomElsewhere).contains("of box 3; order a box"))
        #expect(RemoveItem(itemID: 7, boxID: 2).message(of: .unknownItem).hasPrefix("there is no item 7; "))
        #expect(RemoveItem(itemID: 7, boxID: 2).message(of: .unknownBox).hasPrefix("there is no box 2; "))
        #expect(RemoveItem(itemID: 7, boxID: 2).message(of: .notInBox).hasPrefix("item 7 is not in box 2, "))
        let order = OrderBox(label: "secret", capacity: 11)
        #expect(order.message(of: .invalidCapacity) == "a box has a capacity of 5, 10 or 20, not 11")
        #expect(order.message(of: .invalidLabel).hasSuffix("; this one has 6 characters"))
        #expect(!order.message(of: .invalidLabel).contains("secret"))
        #expect(DistributeItem(title: "").message(of: .invalidTitle).hasSuffix("; this one has 0 characters"))
    }
}
