import Testing

@testable import RelayCore
import RelayWire

private enum Twice1: EventInterface {
    static let name = "org.example.Twice1"
    static var contract: Contract<Self> {
        State.self
        Submit.self
    }
    struct State: EditableDocument {
        typealias Interface = Twice1
        var number: Int64
        static let initial = Self(number: 0)
    }
    struct Submit: Command {
        typealias Interface = Twice1
        static let name = "SubmitState"
    }
}

@Suite("Documents in a contract") struct DocumentContractTests {
    @Test("a document is an event of its interface, and an editable one brings the command that submits it")
    func members() throws {
        let office = Office1.contract
        #expect(office.events.map { $0.name } == ["Rang", "Board", "Lamp"])
        #expect(office.documents.map { $0.name } == ["Board", "Lamp"])
        #expect(office.commands.map { $0.name } == ["Echoing", "SubmitLamp"])
        try office.checkNames()
    }
    @Test("an enum of events lists documents by their types, and has no value for them") func enumOfEvents() throws {
        try Archive1.contract.checkNames()
        #expect(Archive1.contract.documents.map { $0.name } == ["Index", "Rules"])
        #expect(Archive1.contract.cases["Filed"]?(Filed(number: 1)) == .filed(Filed(number: 1)))
        #expect(Archive1.contract.cases["Index"] == nil)
    }
    @Test("a command may not have the name of one that submits a document") func doubled() {
        #expect(throws: RelayError.self) { try Twice1.contract.checkNames() }
    }
    @Test("a refusal of a submission is a conflict, or what the document declares") func failures() {
        typealias Failure = SubmitRefusal<Lamp>
        for failure in [Failure.conflict, .refused(.tooBright)] {
            #expect(Failure(errorName: failure.errorName, message: failure.message) == failure)
        }
        #expect(Failure(errorName: "Other", message: "") == nil)
        #expect(SubmitRefusal<Rules>(errorName: "Conflict", message: "") == .conflict)
        #expect(SubmitRefusal<Rules>(errorName: "TooBright", message: "") == nil)
    }
    @Test("a snapshot of a document is read as it was written, and anything else is refused") func snapshot() throws {
        let codec = try WireCodec(event: Lamp.self)
        var fields = WireWriter()
        try codec.encode(Lamp(brightness: 7, colour: "red"), into: &fields)
        let sent = DocumentSnapshot(
            version: DocumentVersion(epoch: 5, sequence: 6), schema: 7, signature: "(\(codec.schema.signature))",
            fields: fields.bytes)
        var writer = WireWriter()
        try Stream1.write(sent, into: &writer)
        let received = try writer.bytes.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try Stream1.readDocument(&reader)
        }
        #expect(received == sent)
        let state = try received.fields.withUnsafeBytes { try codec.decode($0) }
        #expect(state == Lamp(brightness: 7, colour: "red"))
        for length in 0..<writer.count {
            #expect(throws: (any Error).self) {
                try writer.bytes[..<length].withUnsafeBytes { bytes in
                    var reader = WireReader(bytes)
                    _ = try Stream1.readDocument(&reader)
                }
            }
        }
        let plain = DocumentSnapshot(version: sent.version, schema: 7, signature: "x", fields: fields.bytes)
        var other = WireWriter()
        try Stream1.write(plain, into: &other)
        #expect(throws: RelayError.self) {
            try other.bytes.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                _ = try Stream1.readDocument(&reader)
            }
        }
    }
}
