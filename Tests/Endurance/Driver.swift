import TestTraits
import RelayCore
import Relocation
import TestSupport
import TestTraits

/// Orders boxes, puts items into them, and removes both, one command after the other; remembers what it was told.
///
/// A command that certainly did not run is sent again. One that may have run is looked up by `Contents`, never sent again
/// blindly. Titles and labels bear the driver's name and a number, so that each is one command's.
struct Driver {
    /// A command's outcome that the service, or a look at its state, has told.
    enum Fact: Sendable {
        case ordered(label: String, boxID: Int64)
        /// `boxID` is nil if it was looked up: the item may have moved meanwhile.
        case distributed(title: String, itemID: Int64, boxID: Int64?)
        case itemRemoved(Int64)
        case boxRemoved(Int64)
    }
    /// What it was told, and what stands, as far as its commands go.
    struct Memory: Sendable {
        let name: String
        var boxes: [Int64: String] = [:]
        var items: [Int64: Item] = [:]
        var facts: [Fact] = []
        /// What its labels and titles, and no others, contain.
        var mark: String { "(\(name) " }
    }
    struct Item: Sendable {
        let title: String
        var boxID: Int64
    }
    struct Figures: Sendable {
        var answered = 0
        var refused = 0
        /// Did not run, and were sent again.
        var notRun = 0
        /// May have run, and did; may have run, and did not.
        var lostAndRan = 0, lostAndDidNot = 0
    }
    private enum Outcome<C: Command> {
        case done(C.Reply), refused(C.Refusal)
        case lost
    }

    private let relay: EventRelay
    private let inventory: [Inventory.Item]
    private var random: SeededGenerator
    private var counter = 0
    private var wantsRoom = false
    private(set) var memory: Memory
    private(set) var figures = Figures()

    init(_ name: String, _ relay: EventRelay, _ inventory: [Inventory.Item], seed: UInt64) {
        (self.relay, self.inventory, random) = (relay, inventory, SeededGenerator(seed: seed))
        memory = Memory(name: name)
    }

    /// Throws when the service answers what it must not, or nothing for a minute.
    mutating func run(while goesOn: () -> Bool) async throws {
        while goesOn() { try await step() }
    }
    private mutating func step() async throws {
        let chance = Int.random(in: 0..<100, using: &random)
        if memory.boxes.isEmpty || wantsRoom || chance < 4 && memory.boxes.count < 6 {
            try await order()
        } else if chance < 8, memory.boxes.count > 3, let box = memory.boxes.keys.sorted().randomElement(using: &random)
        {
            try await removeBox(box)
        } else if chance < 60 && memory.items.count < 40 || memory.items.isEmpty {
            try await distribute()
        } else if let item = memory.items.keys.sorted().randomElement(using: &random) {
            try await removeItem(item)
        }
    }

    // MARK: Commands

    private mutating func order() async throws {
        let label = "\(next().room) \(tag)"
        switch try await attempt(OrderBox(label: label, capacity: 20)) {
        case .done(let reply): ordered(label, reply.boxID)
        case .refused(let failure): throw Self.unexpected("OrderBox '\(label)'", failure)
        case .lost:
            let box = try await contents().boxes.first { $0.title == label }
            count(ran: box != nil)
            if let box { ordered(label, box.boxID) }
        }
    }
    private mutating func ordered(_ label: String, _ boxID: Int64) {
        wantsRoom = false
        memory.boxes[boxID] = label
        memory.facts.append(.ordered(label: label, boxID: boxID))
    }
    private mutating func distribute() async throws {
        let title = "\(next().title) \(tag)"
        switch try await attempt(DistributeItem(title: title)) {
        case .done(let reply):
            memory.items[reply.itemID] = Item(title: title, boxID: reply.boxID)
            memory.facts.append(.distributed(title: title, itemID: reply.itemID, boxID: reply.boxID))
        case .refused(.noRoom): wantsRoom = true
        case .refused(let failure): throw Self.unexpected("DistributeItem '\(title)'", failure)
        case .lost:
            let found = try await contents().items.first { $0.title == title }
            count(ran: found != nil)
            guard let found else { return }
            memory.items[found.itemID] = Item(title: title, boxID: found.boxID)
            memory.facts.append(.distributed(title: title, itemID: found.itemID, boxID: nil))
        }
    }
    private mutating func removeItem(_ itemID: Int64) async throws {
        guard let item = memory.items[itemID] else { return }
        switch try await attempt(RemoveItem(itemID: itemID, boxID: item.boxID)) {
        case .done: removed(item: itemID)
        case .refused(.notInBox), .refused(.unknownBox):
            // Another driver has removed the box meanwhile.
            guard let boxID = try await place(of: itemID) else { throw Self.missing("item \(itemID)") }
            memory.items[itemID]?.boxID = boxID
        case .refused(let failure): throw Self.unexpected("RemoveItem \(itemID)", failure)
        case .lost:
            let stands = try await place(of: itemID) != nil
            count(ran: !stands)
            if !stands { removed(item: itemID) }
        }
    }
    private mutating func removed(item itemID: Int64) {
        memory.items[itemID] = nil
        memory.facts.append(.itemRemoved(itemID))
    }
    private mutating func removeBox(_ boxID: Int64) async throws {
        switch try await attempt(RemoveBox(boxID: boxID)) {
        case .done: removed(box: boxID)
        case .refused(.noRoomElsewhere): wantsRoom = true
        case .refused(let failure): throw Self.unexpected("RemoveBox \(boxID)", failure)
        case .lost:
            let stands = try await contents().boxes.contains { $0.boxID == boxID }
            count(ran: !stands)
            if !stands { removed(box: boxID) }
        }
    }
    private mutating func removed(box boxID: Int64) {
        memory.boxes[boxID] = nil
        memory.facts.append(.boxRemoved(boxID))
    }

    // MARK: Calls

    private mutating func attempt<C: Command>(_ command: C) async throws -> Outcome<C> {
        let deadline = ContinuousClock.now + .seconds(300)
        while true {
            switch await relay.outcome(of: command, timeout: .seconds(60)) {
            case .success(let reply):
                figures.answered += 1
                return .done(reply)
            case .refused(let failure):
                figures.refused += 1
                return .refused(failure)
            case .failed(let error):
                guard error.code == .unavailable || error.code == .outcomeUnknown, ContinuousClock.now < deadline else {
                    throw error
                }
                if error.mayHaveRun { return .lost }
                figures.notRun += 1
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }
    /// Changes nothing, and may be asked as often as it takes.
    private mutating func contents() async throws -> Warehouse {
        var inventory = FollowedContents()
        while !inventory.isWhole {
            switch try await attempt(Contents(after: inventory.next)) {
            case .done(let page): inventory.add(page)
            case .refused, .lost: continue
            }
        }
        return Warehouse(inventory)
    }
    private mutating func place(of itemID: Int64) async throws -> Int64? {
        try await contents().items.first { $0.itemID == itemID }?.boxID
    }
    private mutating func count(ran: Bool) {
        if ran { figures.lostAndRan += 1 } else { figures.lostAndDidNot += 1 }
    }
    private mutating func next() -> Inventory.Item {
        counter += 1
        return inventory[counter % inventory.count]
    }
    private var tag: String { memory.mark + "\(counter))" }
    private static func unexpected(_ command: String, _ failure: any CommandRefusal) -> RelayError {
        RelayError(.internalFailure, "\(command) was refused: \(failure)")
    }
    private static func missing(_ what: String) -> RelayError {
        RelayError(.internalFailure, "\(what) is gone, and nobody removed it")
    }
}
