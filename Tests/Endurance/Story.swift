import Foundation
import RelayCore
import Relocation
import TestSupport

/// What happened, told by the events alone: as a watcher has shown them.
struct Story {
    private(set) var replay = Replay()
    private(set) var orders: [String: [Int64]] = [:]
    private(set) var distributions: [String: [ItemProvisioned]] = [:]
    private(set) var removedBoxes: Set<Int64> = []
    private(set) var removedItems: Set<Int64> = []
    /// What could not be understood.
    private(set) var faults: [String] = []

    /// Takes the lines of `relay-cli --json` in the order of their sequences.
    init(_ texts: [UInt64: String]) {
        for (sequence, text) in texts.sorted(by: { $0.key < $1.key }) {
            do { take(try Self.event(text)) } catch { faults.append("#\(sequence): \(error): \(text)") }
        }
        faults += replay.contradictions.map { "does not follow from what was before: \($0)" }
    }
    private mutating func take(_ event: any RelocationEvent) {
        replay.apply(event)
        switch event {
        case let event as BoxProvisioned: orders[event.title, default: []].append(event.boxID)
        case let event as ItemProvisioned: distributions[event.title, default: []].append(event)
        case let event as BoxRemoved: removedBoxes.insert(event.boxID)
        case let event as ItemRemoved: removedItems.insert(event.itemID)
        default: break
        }
    }

    /// What a driver was told and did not happen, or happened twice; what stands and is not in `contents`, and the other way
    /// round.
    func faults(of driver: Driver.Memory, contents: Warehouse) -> [String] {
        var faults = driver.facts.compactMap { missing($0) }
        for (label, boxes) in orders where label.contains(driver.mark) && boxes.count > 1 {
            faults.append("'\(label)' was ordered as boxes \(boxes)")
        }
        for (title, items) in distributions where title.contains(driver.mark) && items.count > 1 {
            faults.append("'\(title)' was distributed as items \(items.map(\.itemID))")
        }
        let boxes = contents.boxes.filter { $0.title.contains(driver.mark) }
        let items = contents.items.filter { $0.title.contains(driver.mark) }
        if Dictionary(boxes.map { ($0.boxID, $0.title) }, uniquingKeysWith: { $1 }) != driver.boxes {
            faults.append("\(driver.name) has the boxes \(driver.boxes), the service \(boxes)")
        }
        let titles = driver.items.mapValues(\.title)
        if Dictionary(items.map { ($0.itemID, $0.title) }, uniquingKeysWith: { $1 }) != titles {
            faults.append("\(driver.name) has the items \(titles), the service \(items)")
        }
        return faults
    }
    private func missing(_ fact: Driver.Fact) -> String? {
        switch fact {
        case .ordered(let label, let boxID):
            orders[label] == [boxID] ? nil : "'\(label)' was ordered as box \(boxID): \(orders[label] ?? [])"
        case .distributed(let title, let itemID, let boxID):
            distributions[title]?.map(\.itemID) == [itemID]
                && (boxID == nil || distributions[title]?.map(\.boxID) == boxID.map { [$0] })
                ? nil
                : "'\(title)' became item \(itemID) in \(boxID ?? 0): \(distributions[title] ?? [])"
        case .itemRemoved(let itemID):
            removedItems.contains(itemID) ? nil : "item \(itemID) was removed, says the reply"
        case .boxRemoved(let boxID): removedBoxes.contains(boxID) ? nil : "box \(boxID) was removed, says the reply"
        }
    }

    // MARK: Lines

    private struct Head: Decodable { let event: String }
    private struct Body<Fields: Decodable>: Decodable { let fields: Fields }

    static func event(_ text: String) throws -> any RelocationEvent {
        let data = Data(text.utf8)
        func fields<E: RelocationEvent>(_ type: E.Type) throws -> E {
            try JSONDecoder().decode(Body<E>.self, from: data).fields
        }
        let types: [any RelocationEvent.Type] = [
            BoxProvisioned.self, BoxRemoved.self, BoxRemovalFailed.self, BoxItemsRedistributionFailed.self,
            ItemProvisioned.self, ItemMoved.self, ItemDistributionFailed.self, ItemRemoved.self, ItemRemovalFailed.self,
        ]
        let name = try JSONDecoder().decode(Head.self, from: data).event
        guard let type = types.first(where: { $0.name == name }) else { throw UnknownEvent(name: name) }
        return try fields(type)
    }
    private struct UnknownEvent: Error { let name: String }
}
