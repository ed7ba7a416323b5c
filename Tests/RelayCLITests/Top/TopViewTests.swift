import Glibc
import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("The screens of top", .computing) struct TopViewTests {
    @Test("streams at 120 columns: everything, with graphs") func wide() {
        #expect(
            TopScreens.screen(TopScreens.model(), width: 120) == """
                org.eventrelay.Service1  802 events/s                                                                    ? keys  q quits
                streams by name   tab: subscribers
                  EVENT                       RATE/S    P50    P99     LAG   LOST
                > org.eventrelay.Relocation1     0.0 448 µs 448 µs       0      -                                             █
                    BoxProvisioned               0.0 448 µs 448 µs                                                            █
                    ItemDistributionFailed       0.0      -      -
                  org.eventrelay.Telemetry1      802  60 µs 6.9 ms   1,210     12                         ▂▃▄▅▆▆▇█▂▃▄▅▆▆▇█▂▃▄▅▆▆▇█▂▃▄▅▆▆
                    CPUSampled                   600  60 µs 6.9 ms                                        ▁▂▃▄▅▆▇█▁▂▃▄▅▆▇█▁▂▃▄▅▆▇█▁▂▃▄▅▆
                    LoadSampled                  2.0  60 µs 120 µs                                        ██████████████████████████████
                    MemorySampled                200  60 µs 1.0 ms                                        ██████████████████████████████

                latency of Relocation1: 200 µs █ 500 µs

                SUBSCRIBER  PROGRAM    BY          LAG  STREAM                     EVENTS
                :1.12       dashboard  signal    1,500  org.eventrelay.Telemetry1  CPUSampled LoadSampled
                :1.5        relay-cli  ring        100  org.eventrelay.Telemetry1  all
                :1.31       -          ring          -  org.eventrelay.Telemetry1  MemorySampled

                """)
    }
    @Test("peers without a place at a ring are shown below the title") func places() {
        var model = TopScreens.model()
        model.take(TopStatus(head: 30_500, ringIsOpen: true, ringLacking: 936), of: TopScreens.telemetry)
        let lines = TopScreens.screen(model, width: 80).split(separator: "\n")
        #expect(lines[1] == "936 peers without a place at the ring: signals instead")
        #expect(!TopScreens.screen(TopScreens.model(), width: 80).contains("without a place"))
    }
    @Test("streams at 80 columns") func usual() {
        #expect(
            TopScreens.screen(TopScreens.model(), width: 80) == """
                org.eventrelay.Service1  802 events/s                            ? keys  q quits
                streams by name   tab: subscribers
                  EVENT                       RATE/S    P50    P99     LAG   LOST
                > org.eventrelay.Relocation1     0.0 448 µs 448 µs       0      -     █
                    BoxProvisioned               0.0 448 µs 448 µs                    █
                    ItemDistributionFailed       0.0      -      -
                  org.eventrelay.Telemetry1      802  60 µs 6.9 ms   1,210     12  ▃▄▅▆▆▇█▂▃▄▅▆▆
                    CPUSampled                   600  60 µs 6.9 ms                 ▂▃▄▅▆▇█▁▂▃▄▅▆
                    LoadSampled                  2.0  60 µs 120 µs                 █████████████
                    MemorySampled                200  60 µs 1.0 ms                 █████████████

                latency of Relocation1: 200 µs █ 500 µs

                SUBSCRIBER  PROGRAM    BY          LAG  STREAM                     EVENTS
                :1.12       dashboard  signal    1,500  org.eventrelay.Telemetry1  CPUSampled …
                :1.5        relay-cli  ring        100  org.eventrelay.Telemetry1  all
                :1.31       -          ring          -  org.eventrelay.Telemetry1  MemorySampled

                """)
    }
    @Test("streams at 60 columns: the median is left out, and LOST is whole") func narrow() {
        #expect(
            TopScreens.screen(TopScreens.model(), width: 60) == """
                org.eventrelay.Service1  802 events/s        ? keys  q quits
                streams by name   tab: subscribers
                  EVENT                       RATE/S    P99     LAG   LOST
                > org.eventrelay.Relocation1     0.0 448 µs       0      -
                    BoxProvisioned               0.0 448 µs
                    ItemDistributionFailed       0.0      -
                  org.eventrelay.Telemetry1      802 6.9 ms   1,210     12
                    CPUSampled                   600 6.9 ms
                    LoadSampled                  2.0 120 µs
                    MemorySampled                200 1.0 ms

                latency of Relocation1: 200 µs █ 500 µs

                SUBSCRIBER  PROGRAM    BY          LAG  STREAM
                :1.12       dashboard  signal    1,500  …Telemetry1
                :1.5        relay-cli  ring        100  …Telemetry1
                :1.31       -          ring          -  …Telemetry1

                """)
    }
    @Test("subscribers at 120, 80 and 60 columns, those who lag the most first") func subscribers() {
        let browser = TopBrowser(page: .subscribers)
        #expect(
            TopScreens.screen(TopScreens.model(), browser, width: 120) == """
                org.eventrelay.Service1  802 events/s                                                                    ? keys  q quits
                subscribers by lag   tab: streams
                  SUBSCRIBER  PROGRAM    BY          LAG  STREAM                     EVENTS
                > :1.12       dashboard  signal    1,500  org.eventrelay.Telemetry1  CPUSampled LoadSampled
                  :1.5        relay-cli  ring        100  org.eventrelay.Telemetry1  all
                  :1.31       -          ring          -  org.eventrelay.Telemetry1  MemorySampled

                """)
        #expect(
            TopScreens.screen(TopScreens.model(), browser, width: 80) == """
                org.eventrelay.Service1  802 events/s                            ? keys  q quits
                subscribers by lag   tab: streams
                  SUBSCRIBER  PROGRAM    BY          LAG  STREAM       EVENTS
                > :1.12       dashboard  signal    1,500  …Telemetry1  CPUSampled LoadSampled
                  :1.5        relay-cli  ring        100  …Telemetry1  all
                  :1.31       -          ring          -  …Telemetry1  MemorySampled

                """)
        #expect(
            TopScreens.screen(TopScreens.model(), browser, width: 60) == """
                org.eventrelay.Service1  802 events/s        ? keys  q quits
                subscribers by lag   tab: streams
                  SUBSCRIBER  PROGRAM    BY          LAG  STREAM
                > :1.12       dashboard  signal    1,500  …Telemetry1
                  :1.5        relay-cli  ring        100  …Telemetry1
                  :1.31       -          ring          -  …Telemetry1

                """)
    }
    @Test("a stream, an event and a subscriber by themselves, with the latencies as bars") func details() {
        let model = TopScreens.model()
        #expect(
            TopScreens.screen(model, TopScreens.browser([.down, .down, .down, .enter], model), width: 80) == """
                org.eventrelay.Service1  802 events/s                            ? keys  q quits
                stream org.eventrelay.Telemetry1
                esc: back
                802 a second                                ▂▃▄▅▆▆▇█▂▃▄▅▆▆▇█▂▃▄▅▆▆▇█▂▃▄▅▆▆
                last event #30500; 1,210 events ahead; 12 lost; 2 subscribers by the ring

                latency in the last 5 seconds: half within 60 µs, 99 of 100 within 6.9 ms
                   20 µs  30  ████████████████████████
                   50 µs  50  ████████████████████████████████████████
                  100 µs  15  ████████████
                  200 µs   0
                  500 µs   0
                    1 ms   5  ████
                    2 ms   0
                    5 ms   5  ████

                SUBSCRIBER  PROGRAM    BY          LAG  STREAM                     EVENTS
                :1.12       dashboard  signal    1,500  org.eventrelay.Telemetry1  CPUSampled …
                :1.5        relay-cli  ring        100  org.eventrelay.Telemetry1  all
                :1.31       -          ring          -  org.eventrelay.Telemetry1  MemorySampled

                """)
        #expect(
            TopScreens.screen(model, TopScreens.browser([.last, .enter], model), width: 60, isUTF8: false) == """
                org.eventrelay.Service1  802 events/s        ? keys  q quits
                event MemorySampled
                esc: back
                200 a second                  ##############################
                of org.eventrelay.Telemetry1

                latency in the last 5 seconds: half within 60 us, 99 of 100
                within 1.0 ms
                   20 us  10  ###########################
                   50 us  15  ########################################
                  100 us   5  #############
                  200 us   0
                  500 us   0
                    1 ms   5  #############

                """)
        #expect(
            TopScreens.screen(
                model, TopScreens.browser([.enter], model, page: .subscribers), width: 60) == """
                    org.eventrelay.Service1  802 events/s        ? keys  q quits
                    subscriber :1.12, dashboard
                    esc: back

                    org.eventrelay.Telemetry1
                      by signal; 1,500 events behind; CPUSampled, LoadSampled

                    """)
    }
    @Test("the keys") func help() {
        let model = TopScreens.model()
        #expect(
            TopScreens.screen(model, TopScreens.browser([.help], model), width: 60) == """
                org.eventrelay.Service1  802 events/s        ? keys  q quits
                ?, h       this page, and back
                q, ctrl-C  end
                ctrl-Z     give the terminal back until 'fg'
                tab        the other page: streams, or subscribers
                1, 2       streams; subscribers
                up, down   select a row; also k and j, page up and down,
                           home and end
                enter      the selected row by itself
                esc        back
                s, S       sort by the next column; by the previous
                r          reverse the order

                streams can be sorted by name, rate, p50, p99, lag, lost.

                """)
    }
    @Test("nobody is subscribed; the service does not say; it publishes nothing; it is away") func without() {
        let none = TopScreens.model(subscribers: [])
        #expect(
            TopScreens.screen(none, TopBrowser(page: .subscribers), width: 60) == """
                org.eventrelay.Service1  802 events/s        ? keys  q quits
                subscribers by lag   tab: streams
                nobody is subscribed

                """)
        let silent = TopScreens.model(subscribers: nil)
        #expect(
            TopScreens.screen(silent, TopBrowser(page: .subscribers), width: 60) == """
                org.eventrelay.Service1  802 events/s        ? keys  q quits
                subscribers by lag   tab: streams
                the service does not report who is subscribed

                """)
        #expect(
            TopScreens.screen(TopModel(service: "a.b"), width: 60) == """
                a.b  0.0 events/s                            ? keys  q quits
                streams by name   tab: subscribers
                nothing to show: the service publishes no such event

                """)
        var gone = TopScreens.model(ticks: 2)
        gone.notice = "org.eventrelay.Service1 went away; waiting for it, whatever happens"
        #expect(
            TopScreens.screen(gone, width: 60, height: 9) == """
                org.eventrelay.Service1  402 events/s        ? keys  q quits
                org.eventrelay.Service1 went away; waiting for it, whatever
                happens
                streams by name, rows 1 to 4 of 7   tab: subscribers
                  EVENT                       RATE/S    P99     LAG   LOST
                > org.eventrelay.Relocation1     0.0      -       0      -
                    BoxProvisioned               0.0      -
                    ItemDistributionFailed       0.0      -
                  org.eventrelay.Telemetry1      402 6.9 ms  29,490      -

                """)
        var unknown = TopModel(service: "a.b")
        unknown.notice = "waiting for a.b"
        #expect(
            TopScreens.screen(unknown, width: 60) == """
                a.b  0.0 events/s                            ? keys  q quits
                waiting for a.b

                """)
    }
    @Test("of many rows those around the selected one are shown, and where they are") func many() {
        let model = TopScreens.many()
        #expect(
            TopScreens.screen(model, width: 60, height: 8) == """
                org.example.fleet  780 events/s              ? keys  q quits
                streams by name, rows 1 to 5 of 80   tab: subscribers
                  EVENT                     RATE/S     P99     LAG   LOST
                > org.example.fleet.Unit1      0.0    0 µs       0      -
                    Sampled                    0.0    0 µs
                  org.example.fleet.Unit10     9.0  8.7 ms       0      -
                    Sampled                    9.0  8.7 ms
                  org.example.fleet.Unit11      10  9.7 ms       0      3

                """)
        let browser = TopScreens.browser([.pageDown, .pageDown], model, room: 5)
        #expect(
            TopScreens.screen(model, browser, width: 60, height: 8) == """
                org.example.fleet  780 events/s              ? keys  q quits
                streams by name, rows 7 to 11 of 80   tab: subscribers
                  EVENT                     RATE/S     P99     LAG   LOST
                  org.example.fleet.Unit12      11 10.7 ms       0      6
                    Sampled                     11 10.7 ms
                > org.example.fleet.Unit13      12 11.7 ms       0      -
                    Sampled                     12 11.7 ms
                  org.example.fleet.Unit14      13 12.8 ms       0      3

                """)
        let last = TopScreens.browser([.last], model, page: .subscribers)
        #expect(
            TopScreens.screen(model, last, width: 60, height: 7) == """
                org.example.fleet  780 events/s              ? keys  q quits
                subscribers by lag, rows 197 to 200 of 200   tab: streams
                  SUBSCRIBER  BY          LAG  STREAM   EVENTS
                  :1.6        signal        0  …Unit7   all
                  :1.7        signal        0  …Unit8   all
                  :1.8        signal        0  …Unit9   all
                > :1.9        signal        0  …Unit10  all

                """)
    }
    @Test("rows sorted by each column, and the other way round; events stay below their streams") func sorting() {
        let model = TopScreens.model()
        func streams(_ order: TopOrder, _ isReversed: Bool = false) -> [String] {
            model.streamRows(TopSorting(order: order, isReversed: isReversed)).map(\.name)
        }
        let boxes = [TopScreens.relocation, "BoxProvisioned", "ItemDistributionFailed"]
        let figures = [TopScreens.telemetry, "CPUSampled", "LoadSampled", "MemorySampled"]
        #expect(streams(.name) == boxes + figures)
        #expect(
            streams(.name, true) == [TopScreens.telemetry, "MemorySampled", "LoadSampled", "CPUSampled"]
                + [TopScreens.relocation, "ItemDistributionFailed", "BoxProvisioned"])
        #expect(streams(.rate) == [TopScreens.telemetry, "CPUSampled", "MemorySampled", "LoadSampled"] + boxes)
        #expect(
            streams(.rate, true) == boxes + [TopScreens.telemetry, "LoadSampled", "MemorySampled", "CPUSampled"])
        #expect(streams(.p99) == [TopScreens.telemetry, "CPUSampled", "MemorySampled", "LoadSampled"] + boxes)
        #expect(streams(.p50) == boxes + figures, "of the boxes one event took long; the figures are alike")
        #expect(streams(.lag).first == TopScreens.telemetry && streams(.lost).first == TopScreens.telemetry)
        #expect(streams(.lost, true).first == TopScreens.relocation)
        func peers(_ order: TopOrder, _ isReversed: Bool = false) -> [String] {
            model.subscriberRows(TopSorting(order: order, isReversed: isReversed)).map(\.subscriber.peer)
        }
        #expect(peers(.lag) == [":1.12", ":1.5", ":1.31"] && peers(.lag, true) == [":1.31", ":1.5", ":1.12"])
        #expect(peers(.name) == [":1.12", ":1.31", ":1.5"] && peers(.transport) == [":1.31", ":1.5", ":1.12"])
        #expect(peers(.interface) == peers(.name))
    }
    @Test("where there is no terminal: all rows of both tables, or of one, as wide as they are") func table() {
        let view = TopView(hasKeys: false)
        let model = TopScreens.model()
        #expect(
            view.table(model).map { $0.text + "\n" }.joined() == """
                org.eventrelay.Service1  802 events/s
                EVENT                       RATE/S    P50    P99     LAG   LOST
                org.eventrelay.Relocation1     0.0 448 µs 448 µs       0      -
                  BoxProvisioned               0.0 448 µs 448 µs
                  ItemDistributionFailed       0.0      -      -
                org.eventrelay.Telemetry1      802  60 µs 6.9 ms   1,210     12
                  CPUSampled                   600  60 µs 6.9 ms
                  LoadSampled                  2.0  60 µs 120 µs
                  MemorySampled                200  60 µs 1.0 ms

                SUBSCRIBER  PROGRAM    BY          LAG  STREAM                     EVENTS
                :1.12       dashboard  signal    1,500  org.eventrelay.Telemetry1  CPUSampled LoadSampled
                :1.5        relay-cli  ring        100  org.eventrelay.Telemetry1  all
                :1.31       -          ring          -  org.eventrelay.Telemetry1  MemorySampled

                """)
        let one = view.table(model, page: .subscribers, sorting: TopSorting(order: .name)).map(\.text)
        #expect(one.count == 5 && one[1].hasPrefix("SUBSCRIBER") && one[2].hasPrefix(":1.12"), "\(one)")
        let other = view.table(model, page: .streams, sorting: TopSorting(order: .rate)).map(\.text)
        #expect(other.count == 9 && other[2].hasPrefix(TopScreens.telemetry), "\(other)")
        #expect(view.table(TopScreens.model(subscribers: [])).last?.text == "nobody is subscribed")
    }

    // MARK: Whatever the size

    private static let browsers: [(TopBrowser, TopModel)] = {
        let (model, many) = (TopScreens.model(), TopScreens.many())
        return [
            (TopBrowser(), model), (TopBrowser(page: .subscribers), model), (TopScreens.browser([.help], model), model),
            (TopScreens.browser([.down, .down, .down, .enter], model), model),
            (TopScreens.browser([.enter], model, page: .subscribers), model),
            (TopScreens.browser([.last], many), many), (TopScreens.browser([.last], many, page: .subscribers), many),
            (TopBrowser(), TopModel(service: "a.b")),
        ]
    }()
    @Test("no line is wider than the terminal, and there are no more than it has; the selected row is among them")
    func sizes() {
        for width in stride(from: 1, through: 140, by: TestForm.rounds(19, soak: 1)) {
            for height in [1, 2, 3, 5, 12, 40] {
                for (browser, model) in Self.browsers {
                    for isUTF8 in [true, false] {
                        let lines = TopView(width: width, height: height, isUTF8: isUTF8).screen(model, browser)
                        let texts = lines.map(\.text)
                        #expect(
                            texts.allSatisfy { $0.count <= width } && texts.count <= height, "\(width) × \(height)")
                        #expect(isUTF8 || texts.allSatisfy { $0.utf8.allSatisfy { 0x20..<0x7F ~= $0 } }, "\(texts)")
                        let isList = !browser.showsHelp && !browser.showsDetail && model.interfaces.count > 0
                        #expect(!isList || height < 5 || lines.contains { $0.style == .selected }, "\(texts)")
                    }
                }
            }
        }
    }
    @Test("a column is whole, or left out: its title, and each of its figures") func wholeColumns() {
        let model = TopScreens.model()
        let titles: Set<String> = ["EVENT", "RATE/S", "P50", "P99", "LAG", "LOST"]
        let figures = Set(
            TopView(hasKeys: false).table(model, page: .streams).dropFirst(2).flatMap {
                $0.text.split(separator: " ").dropFirst().map(String.init)
            })
        var seen: Set<String> = []
        for width in 24...140 {
            let lines = TopView(width: width, height: 10, isUTF8: true).screen(model, TopBrowser()).map(\.text)
            let heading = lines[2].split(separator: " ").map(String.init)
            #expect(titles.isSuperset(of: heading) && heading.contains("RATE/S"), "\(width): \(lines[2])")
            seen.formUnion(heading)
            for line in lines[3...] where line.contains("Sampled") || line.contains("Telemetry1") {
                // Without the mark and the name, and without the graph.
                let cells = line.dropFirst(2).split(separator: " ").dropFirst()
                    .filter { !$0.contains { "▁▂▃▄▅▆▇█".contains($0) } }
                #expect(figures.isSuperset(of: cells.map(String.init)), "\(width): \(line)")
            }
            #expect(width < 41 || heading.contains("LOST"), "\(width): \(lines[2])")
        }
        #expect(seen == titles)
    }
    @Test("no word is broken from 41 columns on: each stands in the widest screen, too") func wholeWords() {
        for (browser, model) in Self.browsers {
            func words(_ width: Int) -> Set<Substring> {
                let lines = TopView(width: width, height: 300).screen(model, browser)
                // Bars are as long as there is room.
                return Set(
                    lines.flatMap { $0.text.split(separator: " ") }
                        .filter { !$0.contains { "▁▂▃▄▅▆▇█".contains($0) } && $0 != "…" })
            }
            let all = words(400)
            for width in stride(from: 41, through: 120, by: TestForm.rounds(19, soak: 1)) + [60, 80] {
                let broken = words(width).filter { word in
                    // Of a name with dots the last parts.
                    let isEnd = word.hasPrefix("…") && all.contains { $0.hasSuffix("." + word.dropFirst()) }
                    return !all.contains(word) && !isEnd
                }
                #expect(broken.isEmpty, "\(width): \(broken)")
            }
        }
    }
    @Test("what a peer says of itself cannot act on the terminal") func hostile() {
        let evil = StatusSubscriber(peer: "\u{1B}[2J\u{202E}", names: ["\n\u{9B}"], transport: "宽", sequence: 1)
        var model = TopScreens.model(subscribers: [evil])
        model.take(programs: [evil.peer: "\u{1B}]0;x\u{7}"])
        for page in TopPage.allCases {
            for keys in [[], [.enter]] as [[TopKey]] {
                let browser = TopScreens.browser(keys, model, page: page)
                for line in TopView(width: 80, height: 24).screen(model, browser) {
                    #expect(
                        line.text.unicodeScalars.allSatisfy { $0.isPlainlyVisible && $0.value != 0x5BBD },
                        "\(line.text)")
                }
            }
        }
    }
    @Test("for programs there is an object a line") func json() {
        var output = ByteBuffer()
        TopJSON.append(TopScreens.model(ticks: 4), to: &output)
        #expect(
            output.text.split(separator: "\n") == [
                #"{"interface":"org.eventrelay.Relocation1","rate":0.0,"p50":null,"p99":null,"lag":0,"lost":0}"#,
                #"{"interface":"org.eventrelay.Relocation1","event":"BoxProvisioned","rate":0.0,"p50":null,"p99":null}"#,
                #"{"interface":"org.eventrelay.Relocation1","event":"ItemDistributionFailed","rate":0.0,"p50":null,"p99":null}"#,
                #"{"interface":"org.eventrelay.Telemetry1","rate":602.0,"p50":60,"p99":6912,"lag":27470,"lost":12}"#,
                #"{"interface":"org.eventrelay.Telemetry1","event":"CPUSampled","rate":400.0,"p50":60,"p99":6912}"#,
                #"{"interface":"org.eventrelay.Telemetry1","event":"LoadSampled","rate":2.0,"p50":60,"p99":120}"#,
                #"{"interface":"org.eventrelay.Telemetry1","event":"MemorySampled","rate":200.0,"p50":60,"p99":1088}"#,
                #"{"subscriber":":1.5","interface":"org.eventrelay.Telemetry1","transport":"ring","sequence":30400,"events":["*"]}"#,
                #"{"subscriber":":1.12","interface":"org.eventrelay.Telemetry1","transport":"signal","sequence":29000,"events":["CPUSampled","LoadSampled"]}"#,
                #"{"subscriber":":1.31","interface":"org.eventrelay.Telemetry1","transport":"ring","sequence":null,"events":["MemorySampled"]}"#,
            ])
    }
    @Test("the screen in OPERATING.md is this one") func pages() throws {
        let screen = TopScreens.screen(
            TopScreens.model(), TopScreens.browser([.down, .down, .down], TopScreens.model()), width: 80
        ).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { $0.isEmpty ? "" : "    " + $0 }
        let folder = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let file = try #require(fopen(folder + "/docs/OPERATING.md", "r"), "docs/OPERATING.md is not there")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        #expect(lines.indices.contains { lines[$0...].starts(with: screen) }, "\(screen.joined(separator: "\n"))")
    }
    @Test(
        "a locale's name tells whether its texts are UTF-8",
        arguments: [
            (["LANG": "de_DE.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "de_DE@euro"], false), ([:], false),
            (["LANG": "de_DE.UTF-8", "LC_ALL": "C"], false),
            (["LANG": "C", "LC_CTYPE": "C.UTF-8", "LC_ALL": ""], true),
            (["LANG": "de_DE.ISO-8859-15@euro"], false), (["LANG": "ca_ES.UTF-8@valencia"], true),
        ] as [([String: String], Bool)])
    func locales(_ environment: [String: String], _ isUTF8: Bool) {
        #expect(OutputStyle.isUTF8(environment) == isUTF8)
    }
}
