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
        #expect(Number.time(62) == "62 ns")
        #expect(Number.time(15_200) == "15.2 µs")
        #expect(Number.time(7_000_000) == "7 ms")
        #expect(Number.rate(110_000) == "110 k/s")
        #expect(Number.rate(5_250_000) == "5.25 M/s")
    }
    @Test("results come back from JSON as they were")
    func json() throws {
        let results = Results.complete()
        let again = try JSONDecoder().decode(Results.self, from: try JSONEncoder().encode(results))
        #expect(again.markdown == results.markdown)
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
        for results in [Results.complete(), Results.sample()] {
            let counter = Counter()
            let parser = XMLParser(data: Data(Plot(results).svg.utf8))
            parser.delegate = counter
            #expect(parser.parse(), "\(parser.parserError as Any)")
            let isMeasured = !results.values(.p50, of: Cell(.latency, .ring, .spin)).isEmpty
            #expect((counter.circles > 0) == isMeasured)
        }
    }
}
