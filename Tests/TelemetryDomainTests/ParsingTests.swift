import TestTraits
import Testing

@testable import TelemetryDomain

@Suite("Reading what the kernel says", .computing, .tags(.g8)) struct ParsingTests {
    @Test("processors: each with its number, the sum of all left out") func processors() throws {
        let all = try CPUTimes.parse(Samples.stat.bytes)
        #expect(
            all == [
                CPUTimes(cpu: 0, ticks: [1_243_601, 0, 178_390, 903_057, 3_216, 0, 454, 1_300]),
                CPUTimes(cpu: 3, ticks: [1_282_039, 1, 194_161, 836_555, 10_544, 7, 5_448, 1_349]),
            ])
        let old = [CPUTimes(cpu: 0, ticks: [100, 2, 30, 4_000, 0, 0, 0, 0])]
        #expect(try CPUTimes.parse(Samples.oldStat.bytes) == old)
    }
    @Test("memory, in bytes; what a kernel does not count is 0") func memory() throws {
        let figures = try MemoryFigures.parse(Samples.meminfo.bytes)
        #expect(figures.total == 4_030_428 << 10 && figures.free == 210_932 << 10)
        #expect(figures.available == 3_120_044 << 10 && figures.buffers == 12_345 << 10)
        // Not SwapCached's.
        #expect(figures.cached == 2_345_678 << 10)
        #expect(figures.swapTotal == 1_048_572 << 10 && figures.swapFree == 1_048_000 << 10)
        let little = "MemAvailable: 3 kB\nMemTotal: 1 kB\nMemFree: 2 kB\n"
        #expect(try MemoryFigures.parse(little.bytes) == MemoryFigures(total: 1_024, free: 2_048, available: 3_072))
    }
    @Test("load") func load() throws {
        let figures = try LoadFigures.parse(Samples.loadavg.bytes)
        #expect(figures == LoadFigures(averages: (17.87, 7.06, 0.19), running: 5, threads: 1_155))
    }
    @Test("network interfaces, also where a number follows the name at once") func links() throws {
        let all = try LinkFigures.parse(Samples.netDev.bytes)
        #expect(all.map(\.name) == ["lo", "eth0", "wlan0"])
        #expect(all[1].received == .init(bytes: 40_478_401, packets: 1_300, errors: 11, drops: 12))
        #expect(all[1].sent == .init(bytes: 72_241, packets: 844, errors: 21, drops: 22))
        #expect(all[2].received == .init(bytes: .max, packets: 1, errors: 2, drops: 3))
        #expect(all[2].sent == .init(bytes: 8, packets: 9, errors: 10, drops: 11))
        let titles = Samples.netDev.split(separator: "\n")[..<2].joined(separator: "\n")
        #expect(try LinkFigures.parse(titles.bytes) == [])
    }

    static let refused: [(String, @Sendable (ArraySlice<UInt8>) throws(ProcFault) -> Any, String)] = [
        ("", CPUTimes.parse, "a line of a processor"),
        ("cpu  1 2 3 4\nintr 1", CPUTimes.parse, "a line of a processor"),
        ("cpu0 1 2 3", CPUTimes.parse, "'cpu0'"), ("cpu 0", CPUTimes.parse, "a line of a processor"),
        ("cpux 1 2 3 4", CPUTimes.parse, "number"), ("cpu4294967296 1 2 3 4", CPUTimes.parse, "number"),
        ("cpu0 1 2 3 99999999999999999999", CPUTimes.parse, "'cpu0'"), ("cpu1 1 -2 3 4", CPUTimes.parse, "'cpu1'"),
        ("", MemoryFigures.parse, "'MemTotal:'"),
        ("MemTotal: 1 kB\nMemFree: 1 kB", MemoryFigures.parse, "'MemAvailable:'"),
        ("MemTotal: much", MemoryFigures.parse, "'MemTotal:'"),
        ("MemTotal: 18446744073709551615 kB", MemoryFigures.parse, "a possible number"),
        ("", LoadFigures.parse, "averages"), ("1.0 2.0", LoadFigures.parse, "averages"),
        ("1 2 3 4/5", LoadFigures.parse, "averages"), ("1.0 2.0 3.0 4", LoadFigures.parse, "threads"),
        ("1.0 2.0 3.0 4/-5", LoadFigures.parse, "threads"), ("1.0 2.0 3.0 4294967296/5", LoadFigures.parse, "threads"),
        ("", LinkFigures.parse, "titles"), ("a\n", LinkFigures.parse, "titles"),
        ("a\nb\n: 1 2 3 4 5 6 7 8 9 10 11 12", LinkFigures.parse, "''"),
        ("a\nb\neth0 1 2 3", LinkFigures.parse, "'eth0'"),
        ("a\nb\neth0: 1 2 3 4 5 6 7 8 9 10 11", LinkFigures.parse, "'eth0'"),
        ("a\nb\n\n", LinkFigures.parse, "''"),
    ]
    @Test("a text that says something else is refused by what is missing", arguments: refused.indices)
    func refusals(_ index: Int) {
        let (text, parse, part) = Self.refused[index]
        let fault = #expect(throws: ProcFault.self) { _ = try parse(text.bytes) }
        #expect(fault?.what.contains(part) == true, "\(String(describing: fault)) of \(text)")
    }
    @Test("20,000 damaged texts are read or refused") func damaged() {
        var random = SystemRandomNumberGenerator()
        let parsers: [(String, (ArraySlice<UInt8>) throws(ProcFault) -> Any)] = [
            (Samples.stat, CPUTimes.parse), (Samples.meminfo, MemoryFigures.parse),
            (Samples.loadavg, LoadFigures.parse), (Samples.netDev, LinkFigures.parse),
        ]
        let noise = Array("0919 \t\n:/.-cpuM\u{0}\u{FF}é".utf8)
        var refused = 0
        for round in 0..<20_000 {
            let (text, parse) = parsers[round % parsers.count]
            var bytes = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = noise.randomElement(using: &random) ?? 0
                case 1: bytes.insert(contentsOf: repeatElement(UInt8(ascii: "9"), count: 30), at: at)
                case 2: bytes.remove(at: at)
                default: if bytes.count > 8 { bytes.removeLast(min(bytes.count - 8, at / 4)) }
                }
            }
            do throws(ProcFault) { _ = try parse(bytes[...]) } catch { refused += 1 }
        }
        #expect(refused > 2_000 && refused < 20_000)
    }
    @Test("a slice that begins elsewhere is read from its beginning") func slices() throws {
        let text = "nonsense" + Samples.loadavg
        #expect(try LoadFigures.parse(text.bytes.dropFirst(8)).threads == 1_155)
        #expect(try CPUTimes.parse(("xx" + Samples.stat).bytes.dropFirst(2)).count == 2)
    }
}
