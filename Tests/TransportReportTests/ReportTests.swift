import Foundation
import FoundationXML
import TransportReport
import Testing

@Suite("Bench report")
struct ReportTests {
    @Test("numbers are short")
    func numbers() {
        #expect(
            [0, 0.0123, 1.5, 5, 12.34, 120, 999.7, 12_345, 1_234_567].map(Number.short) == [
                "0", "0.012", "1.5", "5", "12.3", "120", "1,000", "12,345", "1,234,567",
            ])
        #expect([0, 0.0002, 0.5, 2.09].map(Number.share) == ["0", "< 0.001 %", "0.5 %", "2.09 %"])
        #expect(Number.time(.infinity) == "never")
        #expect(Number.time(62) == "62 ns")
        #expect(Number.time(15_200) == "15.2 µs")
        #expect(Number.time(7_000_000) == "7 ms")
        #expect(Number.rate(110_000) == "110 k/s")
        #expect(Number.rate(5_250_000) == "5.25 M/s")
    }
    @Test("results come back from JSON as they were")
    func json() throws {
        var results = Results.complete()
        let late = Cell(.latency, .zeromq, .spin)
        for _ in 0..<9 { results.add([.p999: .infinity], to: late) }
        let again = try Results(json: try results.json)
        #expect(again.markdown == results.markdown)
        #expect(again.median(.p999, of: late) == .infinity)
        #expect(again.markdown.contains("| never |"))
        #expect(again.rows.map(\.cell) == Plan.allCells)
        #expect(again.values(.p50, of: Cell(.latency, .ring, .spin)) == [100, 100, 100])
    }
    @Test("a table has a row for each cell, also for one that was not measured")
    func tables() {
        for results in [Results.complete(), Results.sample()] {
            #expect(results.tables.reduce(0) { $0 + $1.rows.count } == Plan.allCells.count)
            for table in results.tables {
                #expect(table.rows.allSatisfy { $0.count == table.heads.count })
                let widths = Set(table.text.split(separator: "\n").dropFirst().map(\.count))
                #expect(widths.count == 1, "\(table.title) is not straight")
            }
        }
        #expect(Results.complete().markdown.contains("100 ns (100 ns … 100 ns)"))
    }
    @Test("the machine's own stops are beside the times, in a table of their own before them")
    func stops() throws {
        let tables = Results.complete().tables
        let table = try #require(tables.first)
        #expect(table.rows.map(\.first) == ["the sender's processor", "the receiver's processor"])
        #expect(table.rows.allSatisfy { $0[1].hasPrefix("3 ms") && $0[2].hasPrefix("0.5 %") })
        #expect(tables[1].heads.contains("never came"))
    }
    @Test("the part between the markers is replaced, and nothing else")
    func markers() throws {
        let page = "# A\n\(MarkedText.begin)\nold\n\(MarkedText.end)\nB\n"
        let once = try #require(MarkedText.replacing(in: page, with: "new\n"))
        #expect(once == "# A\n\(MarkedText.begin)\n\nnew\n\n\(MarkedText.end)\nB\n")
        #expect(MarkedText.replacing(in: once, with: "new\n") == once)
        #expect(MarkedText.replacing(in: "no markers", with: "new") == nil)
        #expect(MarkedText.replacing(in: page + MarkedText.begin, with: "new") == nil)
        #expect(MarkedText.replacing(in: "\(MarkedText.end)\(MarkedText.begin)", with: "new") == nil)
    }
    @Test("the plot is XML with a point for each measured place, also when nothing was measured")
    func plot() throws {
        final class Counter: NSObject, XMLParserDelegate {
            var circles = 0
            func parser(
                _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
                attributes: [String: String]
            ) {
                if name == "circle" {
                    circles += 1
                    for key in ["cx", "cy"] {
                        let value = Double(attributes[key] ?? "") ?? -1
                        #expect((0...520).contains(value), "outside of its chart")
                    }
                }
            }
        }
        var late = Results.complete(rounds: 1)
        for cell in Plan.allCells { for _ in 0..<2 { late.add([.p99: .infinity], to: cell) } }
        for results in [Results.complete(), Results.sample(), late] {
            #expect(!Plot(results).svg.contains("inf"))
            let counter = Counter()
            let parser = XMLParser(data: Data(Plot(results).svg.utf8))
            parser.delegate = counter
            #expect(parser.parse(), "\(parser.parserError as Any)")
            let isMeasured = !results.values(.p50, of: Cell(.latency, .ring, .spin)).isEmpty
            #expect((counter.circles > 0) == isMeasured)
        }
    }
}
