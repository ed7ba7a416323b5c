import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

private struct Item: Equatable, Sendable {
    var id: Int
    var text = ""
}
private typealias Rows = FollowedRows<Int, Item>

/// A list kept by its changes alone.
private struct Copy: Equatable {
    var items: [Item] = []
    mutating func apply(_ changes: [ListChange<Item>]) {
        for change in changes {
            switch change {
            case .inserted(let rows, let index): items.insert(contentsOf: rows, at: index)
            case .updated(let rows, let index): items.replaceSubrange(index..<index + rows.count, with: rows)
            case .removed(let rows, let index):
                let gone = index..<index + rows.count
                #expect(Array(items[gone]) == rows)
                items.removeSubrange(gone)
            }
        }
    }
}

@Suite("Rows that are kept in step", .tags(.g2)) struct FollowedRowsTests {
    @Test("changes make each list of the one before, for any two lists of up to four rows") func differences() {
        let lists = (0..<81).map { code -> Rows in
            // Each of four ids is missing, there, or there in another state.
            let items = (0..<4).compactMap { id -> Item? in
                switch code / [1, 3, 9, 27][id] % 3 {
                case 0: nil
                case 1: Item(id: id)
                default: Item(id: id, text: "x")
                }
            }
            return Rows([(items, 0)], by: \.id)
        }
        for old in lists {
            for new in lists {
                var copy = Copy(items: Array(old))
                copy.apply(new.changes(from: old))
                #expect(copy.items == Array(new))
            }
        }
    }
    @Test("neighbours are one change, so that a view takes thousands of rows at once") func runs() {
        let all = Rows([((0..<9).map { Item(id: $0) }, 0)], by: \.id)
        #expect(all.changes(from: Rows()) == [.inserted((0..<9).map { Item(id: $0) }, at: 0)])
        #expect(Rows().changes(from: all) == [.removed((0..<9).map { Item(id: $0) }, at: 0)])
        let other = Rows([([0, 1, 4, 5, 8].map { Item(id: $0, text: $0 < 4 ? "x" : "") }, 0)], by: \.id)
        #expect(
            other.changes(from: all) == [
                .removed([Item(id: 6), Item(id: 7)], at: 6), .removed([Item(id: 2), Item(id: 3)], at: 2),
                .updated([Item(id: 0, text: "x"), Item(id: 1, text: "x")], at: 0),
            ])
        var rows = all
        let removed = rows.apply(at: 1) { rows in for id in 3..<6 { rows[id: id] = nil } }
        #expect(removed == [.removed((3..<6).map { Item(id: $0) }, at: 3)])
    }
    @Test("an event changes a row unless the page that covers its id has seen it") func covered() {
        // Two pages: up to 10 as of 5, all others as of 8.
        var rows = Rows([([Item(id: 1), Item(id: 10)], 5), ([Item(id: 20)], 8)], by: \.id)
        for (sequence, id, isChanged) in [(5, 1, false), (6, 1, true), (7, 15, false), (8, 20, false), (9, 20, true)] {
            let changes = rows.apply(at: UInt64(sequence)) { $0[id: id] = Item(id: id, text: "\(sequence)") }
            #expect(changes.isEmpty != isChanged, "\(sequence)")
        }
        #expect(rows.map(\.id) == [1, 10, 20] && rows[id: 1]?.text == "6" && rows[id: 15] == nil)
        let changes = rows.apply(at: 10) { rows in
            rows[id: 10] = nil
            rows[id: 15] = Item(id: 15)
            rows[id: 20]?.text = "new"
            rows[id: 99]?.text = "nobody"
        }
        #expect(
            changes == [
                .removed([Item(id: 10)], at: 1), .inserted([Item(id: 15)], at: 1),
                .updated([Item(id: 20, text: "new")], at: 2),
            ])
    }
    @Test("a page without rows covers nothing, and the last page covers the rest") func empty() {
        var rows = Rows([([Item(id: 1)], 3), ([], 9), ([], 4)], by: \.id)
        #expect(rows.apply(at: 4) { $0[id: 5] = Item(id: 5) }.isEmpty)
        #expect(rows.apply(at: 5) { $0[id: 5] = Item(id: 5) }.count == 1)
    }
}
