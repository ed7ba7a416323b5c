import TestTraits
import RelayCore
import Relocation
import RelocationDomain
import TestSupport
import TestTraits

/// The rules once more, in the plainest words that come to mind, over dictionaries.
struct NaiveModel {
    enum Request {
        case order(String, Int32), distribute(String), removeBox(Int64), removeItem(Int64, Int64)
    }
    /// A reply's ids, or the name of a refusal.
    enum Outcome: Equatable {
        case done([Int64]), refused(String)
    }

    private var boxes: [Int64: (capacity: Int32, title: String)] = [:]
    private var items: [Int64: (boxID: Int64, title: String)] = [:]
    private(set) var lastBoxID: Int64 = 0
    private(set) var lastItemID: Int64 = 0

    var contents: Warehouse {
        Warehouse(
            boxes: boxes.map { Contents.Box(boxID: $0.key, capacity: $0.value.capacity, title: $0.value.title) },
            items: items.map { Contents.Item(itemID: $0.key, boxID: $0.value.boxID, title: $0.value.title) })
    }
    private func count(in boxID: Int64) -> Int { items.values.count { $0.boxID == boxID } }
    private func placeForNext(except excluded: Int64? = nil) -> Int64? {
        var place: Int64?
        for (id, box) in boxes.sorted(by: { $0.key < $1.key }) where id != excluded && count(in: id) < Int(box.capacity)
        {
            if place.map({ count(in: id) < count(in: $0) }) ?? true { place = id }
        }
        return place
    }

    mutating func run(_ request: Request) -> Outcome {
        switch request {
        case .order(let label, let capacity):
            guard capacity == 5 || capacity == 10 || capacity == 20 else { return .refused("InvalidCapacity") }
            if label.isEmpty { return .refused("InvalidLabel") }
            lastBoxID += 1
            boxes[lastBoxID] = (capacity, label)
            return .done([lastBoxID])
        case .distribute(let title):
            if title.isEmpty { return .refused("InvalidTitle") }
            guard let place = placeForNext() else { return .refused("NoRoom") }
            lastItemID += 1
            items[lastItemID] = (place, title)
            return .done([lastItemID, place])
        case .removeBox(let boxID):
            guard boxes[boxID] != nil else { return .refused("UnknownBox") }
            let before = items
            for (itemID, item) in before.sorted(by: { $0.key < $1.key }) where item.boxID == boxID {
                guard let place = placeForNext(except: boxID) else {
                    items = before
                    return .refused("NoRoomElsewhere")
                }
                items[itemID]?.boxID = place
            }
            boxes[boxID] = nil
            return .done([])
        case .removeItem(let itemID, let boxID):
            guard let item = items[itemID] else { return .refused("UnknownItem") }
            guard boxes[boxID] != nil else { return .refused("UnknownBox") }
            guard item.boxID == boxID else { return .refused("NotInBox") }
            items[itemID] = nil
            return .done([])
        }
    }
}

extension NaiveModel.Request {
    /// Mostly sensible, often absurd: unknown ids, invalid capacities, empty titles.
    static func random(using random: inout SeededGenerator, boxes: Int64, items: Int64) -> Self {
        let boxID = Int64.random(in: max(0, boxes - 8)...boxes + 1, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10:
            let capacity: Int32 = [5, 10, 20, 5, 10, 5, 0, 7, .min, .max].randomElement(using: &random) ?? 5
            return .order(["Kitchen", "Attic", "Küche", ""].randomElement(using: &random) ?? "", capacity)
        case 10..<65: return .distribute(["Kettle", "Skis", "Töpfe", "🎹", ""].randomElement(using: &random) ?? "")
        case 65..<75: return .removeBox(boxID)
        default: return .removeItem(Int64.random(in: 0...items + 1, using: &random), boxID)
        }
    }

    func run(on commands: RelocationCommands<some RelocationStore>) async -> NaiveModel.Outcome {
        do {
            switch self {
            case .order(let label, let capacity):
                return .done([try await commands.handle(OrderBox(label: label, capacity: capacity)).boxID])
            case .distribute(let title):
                let reply = try await commands.handle(DistributeItem(title: title))
                return .done([reply.itemID, reply.boxID])
            case .removeBox(let boxID): try await commands.handle(RemoveBox(boxID: boxID))
            case .removeItem(let itemID, let boxID): try await commands.handle(RemoveItem(itemID: itemID, boxID: boxID))
            }
            return .done([])
        } catch let failure as OrderBox.Refusal {
            return .refused(failure.errorName)
        } catch let failure as DistributeItem.Refusal {
            return .refused(failure.errorName)
        } catch let failure as RemoveBox.Refusal {
            return .refused(failure.errorName)
        } catch let failure as RemoveItem.Refusal {
            return .refused(failure.errorName)
        } catch {
            return .refused("\(error)")
        }
    }
}
