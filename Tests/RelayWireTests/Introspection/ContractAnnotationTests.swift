import Testing

@testable import RelayWire

private enum Post1: EventInterface {
    static let name = "org.example.Post1"
    static let about: About = "Letters, and where they are."
    static let durability = Volatile()
    static var contract: Contract<Self> {
        LetterSent.self
        SendLetter.self
    }
}
private enum Priority: Int32, Codable, CaseIterable { case low = -1, normal, urgent = 10 }
private enum Stamped: String, Codable, CaseIterable { case yes = "with \"stamp\"", no }
private struct LetterSent: DomainEvent {
    typealias Interface = Post1
    static let about = About(
        "A letter is on its way.",
        fields: ["priority": "how soon", "weight": .unit("g"), "parts.height": .unit("mm", "when folded")])
    struct Part: Codable { var height: Double, kind: Stamped? }
    var priority: Priority, weight: UInt32, parts: [Part], byName: [String: Priority]
}
private struct SendLetter: Command {
    typealias Interface = Post1
    static let about = About("Sends a letter.", fields: ["to": "a < b"], reply: ["number": .unit("letters")])
    var to: String, priority: Priority?
    struct Reply: Codable { var number: UInt64 }
    enum Refusal: String, CommandRefusal, CaseIterable {
        case noStamp = "NoStamp", tooHeavy = "TooHeavy"
        var message: String { self == .noStamp ? "it has no \"stamp\"" : "split it" }
    }
}

@Suite("What a contract says to people") struct ContractAnnotationTests {
    private func description() throws -> InterfaceDescription {
        InterfaceDescription(
            Post1.name,
            methods: [
                try .init(
                    SendLetter.self, in: WireSchema(of: SendLetter.self).fields,
                    out: WireSchema(of: SendLetter.Reply.self).fields, progress: nil)
            ], signals: [try .init(LetterSent.self, fields: WireSchema(event: LetterSent.self).fields)],
            annotations: InterfaceDescription.Annotation.described(Post1.about.text))
    }
    @Test("descriptions, units, cases and refusals become annotations") func annotations() throws {
        let all = try description()
        #expect(all.annotations == [.init("org.eventrelay.Description", "Letters, and where they are.")])
        let method = all.methods[0]
        #expect(
            method.annotations == [
                .init("org.eventrelay.Description", "Sends a letter."),
                .init("org.eventrelay.Failures", #"{"NoStamp":"it has no \"stamp\"","TooHeavy":"split it"}"#),
            ])
        #expect(method.inputs[0].annotations == [.init("org.eventrelay.Description", "a < b")])
        #expect(
            method.inputs[1].annotations == [.init("org.eventrelay.Cases", #"{"low":-1,"normal":0,"urgent":10}"#)])
        #expect(method.outputs[0].annotations == [.init("org.eventrelay.Unit", "letters")])
        let signal = all.signals[0]
        #expect(signal.annotations == [.init("org.eventrelay.Description", "A letter is on its way.")])
        #expect(
            signal.arguments.map(\.annotations) == [
                [
                    .init("org.eventrelay.Description", "how soon"),
                    .init("org.eventrelay.Cases", #"{"low":-1,"normal":0,"urgent":10}"#),
                ], [.init("org.eventrelay.Unit", "g")],
                [
                    .init("org.eventrelay.Description.height", "when folded"),
                    .init("org.eventrelay.Unit.height", "mm"),
                    .init("org.eventrelay.Cases.kind", #"{"yes":"with \"stamp\"","no":"no"}"#),
                ], [.init("org.eventrelay.Cases", #"{"low":-1,"normal":0,"urgent":10}"#)], [], [], [],
            ])
    }
    @Test("the XML has them behind the shape, escaped") func rendered() throws {
        let xml = IntrospectionXML.render([try description()])
        #expect(
            xml.contains(
                """
                      <arg name="to" type="s" direction="in">
                        <annotation name="org.eventrelay.Description" value="a &lt; b"/>
                      </arg>
                      <arg name="priority" type="ai" direction="in">
                        <annotation name="org.eventrelay.Fields" value="?i"/>
                        <annotation name="org.eventrelay.Cases" value="{&quot;low&quot;:-1,&quot;normal&quot;:0,&quot;urgent&quot;:10}"/>
                      </arg>
                """), "\(xml)")
        try description().check()
    }

    private struct Misspelt: DomainEvent {
        typealias Interface = Post1
        static let about = About("", fields: ["weigth": .unit("g")])
        var weight: UInt32
    }
    @Test("a field that there is not is refused by its name, with the ones there are") func unknownField() throws {
        let error = #expect(throws: RelayError.self) {
            try InterfaceDescription.Signal(Misspelt.self, fields: WireSchema(event: Misspelt.self).fields)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message == "Misspelt.about says something about a field 'weigth'; it has weight")
    }

    private struct Moved: DomainEvent {
        typealias Interface = Post1
        static let about = About("", fields: ["state.onItsWay": "in a van", "state.onItsWay.speed": .unit("km/h")])
        enum State: TaggedEnum { case waiting, onItsWay(speed: Double, priority: Priority) }
        var state: State
    }
    @Test("descriptions reach into the payloads of enums, behind the case's name") func payloads() throws {
        let state = try InterfaceDescription.Signal(Moved.self, fields: WireSchema(event: Moved.self).fields).arguments[
            0]
        #expect(state.signature == "(sv)" && state.shape == "[waiting,onItsWay(speed:d,priority:i)]")
        #expect(
            state.annotations == [
                .init("org.eventrelay.Description.onItsWay", "in a van"),
                .init("org.eventrelay.Unit.onItsWay.speed", "km/h"),
                .init("org.eventrelay.Cases.onItsWay.priority", #"{"low":-1,"normal":0,"urgent":10}"#),
            ])
    }

    private enum Loud: Int32, Codable, CaseIterable, CustomStringConvertible {
        case whisper, shout
        var description: String { "as loud as a \(rawValue)" }
    }
    private struct Level: RawRepresentable, CaseIterable, Codable {
        var rawValue: Int32
        static let allCases = [Level(rawValue: 1)]
    }
    private enum Wide: UInt64, Codable, CaseIterable { case most = 18_446_744_073_709_551_615 }
    private enum Half: Double, Codable, CaseIterable { case one = 1.5 }
    @Test("cases are known of enums whose names can be told, in whatever container") func cases() {
        let priority = [WireCase("low", .signed(-1)), WireCase("normal", .signed(0)), WireCase("urgent", .signed(10))]
        let holders: [Any.Type] = [
            Priority.self, Priority?.self, [Priority].self, [[Priority?]].self, [String: Priority].self,
            Set<Priority>.self,
        ]
        for type in holders { #expect(WireCase.cases(of: type) == priority, "\(type)") }
        #expect(WireCase.cases(of: Wide.self) == [WireCase("most", .unsigned(.max))])
        let others: [Any.Type] = [
            Int32.self, String.self, Bool.self, Loud.self, Level.self, Half.self, Never.self, [Priority: String].self,
        ]
        for type in others { #expect(WireCase.cases(of: type) == [], "\(type)") }
    }
    private struct Unlisted: CommandRefusal {
        let errorName: String
        init(errorName: String, message _: String) { self.errorName = errorName }
    }
    @Test("a failure whose cases cannot be listed, and none at all, have no annotation") func unlisted() {
        #expect(InterfaceDescription.Annotation.refusals(Unlisted.self) == [])
        #expect(InterfaceDescription.Annotation.refusals(Never.self) == [])
    }
    @Test("names do not take part in comparing schemas") func comparison() {
        #expect(
            WireField(name: "a", type: .int32) == WireField(name: "a", type: .int32, cases: [WireCase("x", .signed(1))])
        )
    }
    @Test("JSON's texts are escaped") func json() {
        #expect(JSONText.quoted("a\"b\\c\n\u{1F}ü") == #""a\"b\\c\u000a\u001fü""#)
        #expect(JSONText.object([]) == "{}")
    }
}
