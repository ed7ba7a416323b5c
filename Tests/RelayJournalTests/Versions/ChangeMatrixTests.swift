import Foundation
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal
import RelayWire

@Suite("Every change of a contract", .heavy, .tags(.g2, .g6)) struct ChangeMatrixTests {
    private static let rows = ChangeRows.events + ChangeRows.commands + ChangeRows.others

    @Test("does to an old front end, a new one and what is kept what EVOLUTION says") func cells() async throws {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        try await ChangeRows.prepare(folder, on: bus)
        let before = try await ChangeWorld(
            [Before.Shop1.self, Before.Hall1.self], on: bus, folder, handle: ChangeRows.answerBefore)
        for row in Self.rows {
            let seen = try await row.before(before)
            #expect(seen == row.newFrontEnd, "\(row.change): a new front end with the old service")
        }
        try await before.end()
        let after = try await ChangeWorld(
            [After.Shop1.self, After.Hall1.self], on: bus, folder, handle: ChangeRows.answerAfter)
        for row in Self.rows {
            let seen = try await row.after(after)
            #expect(seen.oldFrontEnd == row.oldFrontEnd, "\(row.change): an old front end with the new service")
            #expect(seen.journal == row.journal, "\(row.change): what is kept")
        }
        try await after.end()
    }
    @Test("every row of EVOLUTION's table is tried, and says what is seen") func table() throws {
        let page = try String(
            contentsOf: URL(filePath: "../../../docs/EVOLUTION.md", relativeTo: URL(filePath: #filePath)),
            encoding: .utf8)
        var (table, group): ([String: [String]], String) = ([:], "")
        for line in page.components(separatedBy: "\n").drop(while: { !$0.hasPrefix("| change |") }) {
            if !line.hasPrefix("|") { break }
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            if cells.count == 4 { table[group + cells[0]] = cells } else { group = Self.group(line) }
        }
        try #require(table.count > 20)
        for row in Self.rows {
            let words = try #require(table[row.entry], "\(row.change): no row '\(row.entry)'")
            #expect(row.oldFrontEnd.isSaid(by: words[1]), "\(row.change): \(words[1])")
            #expect(row.newFrontEnd.isSaid(by: words[2]), "\(row.change): \(words[2])")
            #expect(row.journal.isSaid(by: words[3]), "\(row.change): \(words[3])")
        }
        let tried = Set(Self.rows.map(\.entry))
        for entry in table.keys where entry != "change" && entry != "---" {
            #expect(tried.contains(entry), "\(entry) is not tried")
        }
    }
    @Test("the comparison of two contracts finds what is seen") func comparison() throws {
        let changes =
            try ContractText(of: Before.Shop1.self).changes(to: ContractText(of: After.Shop1.self))
            + ContractText(of: Before.Hall1.self).changes(to: ContractText(of: After.Hall1.self))
        let broken = Dictionary(
            uniqueKeysWithValues: changes.map { ($0.member, Set($0.effects.filter(\.breaks).map(\.party))) })
        // An addition breaks nothing: a program that needs it is released after a service that has it.
        for row in Self.rows where !row.entry.contains("added, in an event") && !row.entry.hasSuffix("document added") {
            var expected: Set<ContractChange.Party> = []
            if row.oldFrontEnd.breaks { expected.insert(.oldFrontEnds) }
            if row.newFrontEnd.breaks { expected.insert(.newFrontEnds) }
            if row.journal.breaks { expected.insert(.journal) }
            #expect(broken[row.member] ?? [] == expected, "\(row.change)")
        }
    }
    /// What the rows below a heading begin with.
    private static func group(_ heading: String) -> String {
        ["field", "argument", "case", "rest"].first { heading.contains($0) }.map { "\($0): " } ?? ""
    }
}
