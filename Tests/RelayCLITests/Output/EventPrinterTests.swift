import Foundation
import RelayCore
import RelayTool
import Testing

@testable import relay_cli
import RelayWire

@Suite("Lines of watch")
struct EventPrinterTests {
    private func line(
        _ event: Envelope, json: Bool = false, color: Bool = false, knows: Bool = true
    ) throws -> (text: String, fault: WireFault?) {
        var printer = Samples.printer(json: json, color: color)
        if knows { printer.learn([try Samples.relocation()]) }
        var output = ByteBuffer()
        let fault = printer.append(event, to: &output)
        return (String(decoding: TerminalDoor.visible(output.bytes), as: UTF8.self), fault)
    }

    @Test("an event for people")
    func people() throws {
        let line = try line(Samples.boxProvisioned(17, previous: 12))
        #expect(line.text == "09:15:04.123 #17 BoxProvisioned boxID=3 capacity=10 title=\"Kitchen\"\n")
        #expect(line.fault == nil)
    }

    @Test("an event as JSON")
    func json() throws {
        let line = try line(Samples.boxProvisioned(17, previous: 12), json: true)
        #expect(
            line.text == #"{"event":"BoxProvisioned","interface":"org.eventrelay.Relocation1","sequence":17,"#
                + #""previous":12,"publishedAt":"2026-11-20T09:15:04.123456Z","transport":"signal","#
                + #""fields":{"boxID":3,"capacity":10,"title":"Kitchen"}}"# + "\n")
    }

    @Test("an event without fields")
    func noFields() throws {
        let ping = Envelope(
            interface: "org.eventrelay.Relocation1", name: "Ping", signature: "ttt",
            body: Samples.body { for stamp: UInt64 in [1, 0, 0] { $0.uint64(stamp) } },
            stamp: Samples.stamp(1, previous: 0, at: 0))
        #expect(try line(ping).text == "00:00:00.000 #1 Ping\n")
        #expect(try line(ping, json: true).text.contains(#""fields":{}}"#))
    }

    @Test("nested names and absent optionals, from the annotation")
    func nested() throws {
        let body = try Samples.body { writer in
            let shelves = writer.beginArray(elementAlignment: 8)
            for height in [1.5, nil] {
                writer.align(8)
                try writer.string("A\u{1B}[2J")
                let optional = writer.beginArray(elementAlignment: 8)
                if let height { writer.double(height) }
                try writer.endArray(optional)
            }
            try writer.endArray(shelves)
            try writer.endArray(writer.beginArray(elementAlignment: 4))
            for stamp: UInt64 in [1, 0, 0] { writer.uint64(stamp) }
        }
        let event = Envelope(
            interface: "org.eventrelay.Relocation1", name: "TruckLoaded", signature: "a(sad)asttt", body: body,
            stamp: Samples.stamp(1, previous: 0, at: 0))
        #expect(
            try line(event).text == "00:00:00.000 #1 TruckLoaded "
                + #"shelves=[{"label":"A\u001b[2J","height":1.5},{"label":"A\u001b[2J","height":null}] note=null"#
                + "\n")
    }

    @Test("an event that the service did not announce, or announced otherwise, is shown by its signature")
    func unknown() throws {
        let event = try Samples.boxProvisioned(17)
        #expect(
            try line(event, knows: false).text
                == "09:15:04.123 #17 BoxProvisioned arg0=3 arg1=10 arg2=\"Kitchen\"\n")
        let other = Envelope(
            interface: event.interface, name: event.name, signature: "sttt",
            body: try Samples.body { try $0.string("x") }, stamp: Samples.stamp(18, previous: 17, at: 0))
        #expect(try line(other).text == "00:00:00.000 #18 BoxProvisioned arg0=\"x\"\n")
    }

    @Test("a body that cannot be read is told, and its line is still one line, and still JSON")
    func malformed() throws {
        let good = try Samples.boxProvisioned(17)
        let bad = Envelope(
            interface: good.interface, name: good.name, signature: good.signature, body: Array(good.body.prefix(9)),
            stamp: Samples.stamp(17, previous: 0, at: 0))
        let people = try line(bad)
        #expect(people.fault != nil)
        #expect(people.text == "00:00:00.000 #17 BoxProvisioned boxID=3 capacity= …\n")
        let json = try line(bad, json: true)
        #expect(json.fault != nil)
        #expect(json.text.hasSuffix(#""fields":{}}"# + "\n"))
        _ = try JSONSerialization.jsonObject(with: Data(json.text.utf8))
    }

    @Test("colours are put around, and taken away they leave the same line")
    func color() throws {
        let event = try Samples.boxProvisioned(17)
        let colored = try line(event, color: true).text
        #expect(colored.contains("\u{1B}[1mBoxProvisioned\u{1B}[0m"))
        #expect(colored.replacing(/\u{1B}\[[0-9;]*m/, with: "") == (try line(event).text))
    }

    @Test("a gap, for people and as JSON")
    func gaps() {
        func text(_ gap: Gap, json: Bool) -> String {
            var printer = Samples.printer(json: json)
            var output = ByteBuffer()
            printer.append(gap, of: "org.eventrelay.Relocation1", now: 1_795_166_104_123_456, to: &output)
            return output.text
        }
        let gap = Gap(5...9, epoch: 1, count: 3, reason: .lost)
        #expect(
            text(gap, json: true)
                == #"{"gap":{"interface":"org.eventrelay.Relocation1","first":5,"last":9,"count":3,"reason":"lost"}}"#
                + "\n"
        )
        #expect(
            text(gap, json: false)
                == "09:15:04.123 gap: #5 to #9 of org.eventrelay.Relocation1 missing (3 events, lost)\n")
        #expect(
            text(Gap(5...5, epoch: 1, count: nil, reason: .overflow), json: false)
                == "09:15:04.123 gap: #5 of org.eventrelay.Relocation1 missing (overflow)\n")
    }

    @Test("runs that nothing is known of are no continuation of the last one's numbers")
    func unknownRun() {
        var output = ByteBuffer()
        let gap = Gap(1...UInt64.max, epoch: 0, count: nil, reason: .epochChanged)
        var people = Samples.printer()
        people.append(gap, of: "a.b", now: 0, to: &output)
        var json = Samples.printer(json: true)
        json.append(gap, of: "a.b", now: 0, to: &output)
        #expect(
            output.text == "00:00:00.000 gap: what a.b published meanwhile is unknown (epochChanged)\n"
                + #"{"gap":{"interface":"a.b","first":1,"last":null,"count":null,"reason":"epochChanged"}}"# + "\n")
    }

    @Test("a run that ended at an unknown sequence leaves a gap without an end")
    func openGap() {
        var output = ByteBuffer()
        let gap = Gap(5...UInt64.max, epoch: 1, count: nil, reason: .epochChanged)
        var people = Samples.printer()
        people.append(gap, of: "a.b", now: 0, to: &output)
        var json = Samples.printer(json: true)
        json.append(gap, of: "a.b", now: 0, to: &output)
        #expect(
            output.text == "00:00:00.000 gap: #5 and all after it of a.b missing (epochChanged)\n"
                + #"{"gap":{"interface":"a.b","first":5,"last":null,"count":null,"reason":"epochChanged"}}"# + "\n")
    }

    @Test("of a replaced history, up to where it is the same", arguments: [(8, " after #8"), (0, "")])
    func replaced(common: UInt64, place: String) {
        var output = ByteBuffer()
        let gap = Gap(9...UInt64.max, epoch: 1, count: nil, reason: .historyReplaced, commonThrough: common)
        var people = Samples.printer()
        people.append(gap, of: "a.b", now: 0, to: &output)
        var json = Samples.printer(json: true)
        json.append(gap, of: "a.b", now: 0, to: &output)
        #expect(
            output.text == "00:00:00.000 gap: the history of a.b is another one\(place) (historyReplaced)\n"
                + #"{"gap":{"interface":"a.b","first":9,"last":null,"count":null,"reason":"historyReplaced","#
                + #""commonThrough":\#(common)}}"# + "\n")
    }
}
