import Glibc
import RelayCore
import RelayTool
import Synchronization
import TestTraits
import Testing

@testable import relay_cli

@Suite("doctor", .tags(.g8))
struct DoctorTests {
    private static let name = "org.eventrelay.Service1"
    private static let owner = ":1.5"
    private static let interface = "org.eventrelay.Relocation1"

    /// What a service and its bus answer; each test changes what it is about.
    private struct World: Sendable {
        var owner: String? = DoctorTests.owner
        var startable: [String] = []
        var ownerUser: UInt32 = 1_000
        /// Of calls by their member: what is answered instead.
        var refusals: [String: (name: String, message: String)] = [:]
        var heads: [UInt64] = [7]
        var features = StreamFeature.all
        var signals: [String] = [DoctorTests.owner]
        var passesDescriptors = true
        var journal: FakeJournal
        var facts = SystemFacts(
            userID: 1_000, clockIsSynchronised: { true }, descriptorLimit: { 1_024 }, sealingFailure: { nil },
            ringFault: { _ in nil }, pause: { _ in })

        init() throws { journal = try FakeJournal.sample(3) }

        func peer() -> FakePeer {
            let heads = Heads(self.heads)
            return FakePeer(passesDescriptors: passesDescriptors, senders: signals) { call throws(RelayError) in
                try answer(call, heads)
            }
        }
        private func answer(_ call: MethodCall, _ heads: Heads) throws(RelayError) -> BusReply {
            if let refusal = refusals[call.member] {
                throw FakePeer.refusal(refusal.name, refusal.message, calling: call)
            }
            switch call.member {
            case "ListNames": return FakePeer.names(owner == nil ? [] : [DoctorTests.name])
            case "ListActivatableNames": return FakePeer.names(startable)
            case "GetNameOwner":
                guard let owner else { throw FakePeer.refusal("NameHasNoOwner", "no owner", calling: call) }
                return FakePeer.text(owner)
            case "GetConnectionUnixUser": return FakePeer.reply("u") { $0.uint32(ownerUser) }
            case "RequestName": return FakePeer.reply("u") { $0.uint32(3) }
            case "Introspect":
                guard let xml = Samples.objects[call.path] else {
                    throw FakePeer.refusal("UnknownObject", "no", calling: call)
                }
                return FakePeer.text(xml)
            case "Attach":
                let attachment = Attachment(
                    epoch: 1, from: 0, oldest: 1, head: heads.next(), last: [:],
                    details: AttachOptions(features: features))
                return FakePeer.reply(Stream1.attachmentSignature, from: DoctorTests.owner) {
                    try Stream1.write(attachment, into: &$0)
                }
            case "OpenRing":
                return BusReply(
                    sender: DoctorTests.owner, signature: "hh", body: [0, 0, 0, 0, 1, 0, 0, 0],
                    descriptors: [ReceivedDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))])
            case "CloseRing": return FakePeer.reply("") { _ in }
            case "Status":
                let outgoing = OutgoingCall(
                    path: call.path, interface: call.interface, member: "Status", signature: "", body: [])
                guard let reply = try? journal.answer(outgoing) else { throw RelayError(.unavailable, "it left") }
                return BusReply(sender: DoctorTests.owner, signature: reply.signature, body: reply.body)
            default: throw FakePeer.refusal("UnknownMethod", "no such method", calling: call)
            }
        }
    }
    private final class Heads: Sendable {
        private let heads: Mutex<[UInt64]>
        init(_ heads: [UInt64]) { self.heads = Mutex(heads) }
        func next() -> UInt64 { heads.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
    }

    private func run(
        _ world: World, _ peer: FakePeer? = nil, json: Bool = false, columns: Int? = nil, hasBus: Bool = true
    ) async -> (code: ExitCode, output: String, notes: [String]) {
        let (notes, pipe) = (Notes(), TestPipe())
        let output = pipe.writing
        let peer = hasBus ? peer ?? world.peer() : nil
        let code = await WaitingThread.run {
            var tool = Tool.tested(output: output, notes, columns: columns, peer: peer) { _, _, _, _, _ in
                FakeFollowed(FakeService())
            }
            tool.facts = world.facts
            tool.programs = { _, _ in [Self.owner: "relay-service"] }
            return tool.run(json ? ["doctor", "--json"] : ["doctor"])
        }.value
        pipe.closeWriting()
        return (code, String(decoding: await pipe.readAll(), as: UTF8.self), notes.lines.withLock { $0 })
    }
    /// The lines about a check.
    private func finding(_ check: String, _ world: World) async -> (code: ExitCode, text: String) {
        let result = await run(world, json: true)
        let lines = result.output.split(separator: "\n").filter { $0.contains("\"check\":\"\(check)\"") }
        return (result.code, lines.joined(separator: "\n"))
    }

    @Test("a healthy service: a line for each check, and code 0") func healthy() async throws {
        let peer = try World().peer()
        let result = await run(try World(), peer)
        #expect(
            result.output == """
                ok       bus          the session bus answers; this program is :1.99
                ok       name         'org.eventrelay.Service1' is owned by :1.5 (relay-service, user 1000, as you are)
                ok       own          you could own the name, as the service's user or an administrator
                ok       send         the service answers: 1 interface
                ok       receive      signals of the service come
                ok       descriptors  the bus passes file descriptors
                ok       memory       this system seals shared memory; the ring of org.eventrelay.Relocation1 came sealed
                ok       journal      org.eventrelay.Relocation1 keeps 38 events in a file of 9 MiB, which is sound
                ok       disk         3 GiB free for the journal
                ok       limits       1,024 descriptors a process
                ok       clock        the system's clock is synchronised
                ok       versions     relay-cli \(Version.current); both sides know replays and runs

                12 ok, 0 warnings, 0 failed

                """)
        #expect(result.code == .ok && result.notes.isEmpty)
        // It leaves what it attached to, and closes the ring that it opened.
        #expect(peer.calls.contains { $0.member == "CloseRing" })
        #expect(peer.calls.filter { $0.member == "Attach" }.count == 2)
    }

    @Test("without a bus the rest that can be examined is, and the code is 1") func noBus() async throws {
        let result = await run(try World(), columns: 60, hasBus: false)
        #expect(
            result.output == """
                failed   bus          no bus
                                      -> name another bus with --bus
                                         ADDRESS, or use --system
                ok       memory       this system seals shared memory
                ok       limits       1,024 descriptors a process
                ok       clock        the system's clock is synchronised
                ok       versions     relay-cli \(Version.current); the service was not
                                      asked

                4 ok, 0 warnings, 1 failed

                """)
        #expect(result.code == .refused && result.notes == ["1 check failed: bus"])
    }

    @Test("a service that does not run is not started, whether the bus could or not") func absent() async throws {
        var world = try World()
        world.owner = nil
        world.startable = [Self.name]
        let peer = world.peer()
        let result = await run(world, peer)
        #expect(result.code == .ok && result.notes.isEmpty)
        #expect(
            result.output.hasPrefix(
                """
                ok       bus          the session bus answers; this program is :1.99
                ok       name         nobody owns 'org.eventrelay.Service1' now; the bus starts the service when it is called
                warning  service      it does not run, and is not started by looking at it: policy, journal and disk are not examined
                                      -> start it, for example with 'relay-cli list', and ask again
                ok       descriptors  the bus passes file descriptors

                """))
        #expect(peer.calls.allSatisfy { $0.destination == "org.freedesktop.DBus" && $0.member != "StartServiceByName" })

        world.startable = []
        let missing = await finding("name", world)
        #expect(missing.code == .refused)
        #expect(
            missing.text
                == #"{"check":"name","grade":"failed","text":"nobody owns 'org.eventrelay.Service1', and the bus knows no way "#
                + #"to start it","remedy":"start the service, install its D-Bus service file, or name another with "#
                + #"--service NAME"}"#)
    }

    private static let denied = (name: "AccessDenied", message: "rejected by policy")
    @Test("what is wrong is named, with the remedy: the policy") func policy() async throws {
        var world = try World()
        (world.ownerUser, world.refusals["RequestName"]) = (0, Self.denied)
        #expect(await finding("own", world).text.contains(#""ok","text":"the bus keeps you from taking the name""#))
        world.refusals = [:]
        let own = await finding("own", world)
        #expect(own.code == .refused && own.text.contains("although the service is another user's"))
        world = try World()
        world.refusals["RequestName"] = Self.denied
        #expect(await finding("own", world).text.contains(#""grade":"warning","text":"you may not own the name"#))

        world = try World()
        world.refusals["Introspect"] = Self.denied
        let send = await finding("send", world)
        #expect(send.code == .refused && send.text.contains("does not let user 1000 call the service"))
        #expect(send.text.contains("'send_destination'"))

        world = try World()
        world.refusals["Attach"] = Self.denied
        let receive = await finding("receive", world)
        #expect(receive.code == .refused && receive.text.contains("user 1000 may not subscribe to \(Self.interface)"))
        world = try World()
        (world.signals, world.heads) = ([], [7, 9])
        let silent = await finding("receive", world)
        #expect(silent.code == .refused && silent.text.contains("published #8 to #9, and no signal came"))
        world.heads = [7]
        let quiet = await finding("receive", world)
        #expect(quiet.code == .ok && quiet.text.contains("nothing was published meanwhile"))
    }
    @Test("what is wrong is named, with the remedy: the system and the journal") func system() async throws {
        var world = try World()
        world.passesDescriptors = false
        world.facts.clockIsSynchronised = { false }
        world.facts.descriptorLimit = { 100 }
        world.features = [.runs]
        for (check, part) in [
            ("descriptors", "the bus passes no file descriptors"), ("clock", "timedatectl set-ntp true"),
            ("limits", "100 descriptors a process"), ("versions", "the service lacks replays"),
        ] {
            let found = await finding(check, world)
            #expect(
                found.code == .ok && found.text.contains(#""grade":"warning""#) && found.text.contains(part), "\(found)"
            )
        }
        world = try World()
        world.journal.change { $0.version = "9.0.0" }
        #expect(
            await finding("versions", world).text.contains(
                #""text":"relay-cli \#(Version.current), the service is built with Relay 9.0.0; both sides know"#))
        world = try World()
        world.facts.sealingFailure = { RelayError(.unavailable, "no memfd") }
        let memory = await finding("memory", world)
        #expect(memory.code == .refused && memory.text.contains("seals no shared memory: no memfd"))
        world = try World()
        world.facts.ringFault = { _ in RelayError(.invalidArgument, "it can shrink") }
        let ring = await finding("memory", world)
        #expect(ring.code == .refused && ring.text.contains("is not sealed: it can shrink"))
        world = try World()
        world.journal.change { $0.storageError = 30 }
        let commits = await finding("disk", world)
        #expect(commits.code == .refused && commits.text.contains("refuses commits: Read-only file system"))
        world = try World()
        world.refusals["Status"] = (name: "Failed", message: "disk")
        let journal = await finding("journal", world)
        #expect(journal.code == .refused && journal.text.contains("does not report its status"))
    }
    @Test("of several services one has to be named") func several() async throws {
        let objects = Samples.objects
        let peer = FakePeer { call throws(RelayError) in
            switch call.member {
            case "ListNames": return FakePeer.names(["org.a.One", "org.b.Two"])
            case "ListActivatableNames": return FakePeer.names([])
            case "Introspect": return FakePeer.text(objects[call.path] ?? "")
            default: throw FakePeer.refusal("UnknownMethod", "no", calling: call)
            }
        }
        let result = await run(try World(), peer)
        #expect(result.code == .refused && result.notes == ["1 check failed: name"])
        #expect(
            result.output.contains(
                "failed   name         there are several services: org.a.One and org.b.Two\n"
                    + "                      -> name one with --service NAME\n"))
    }
    @Test("this system can do what the doctor asks of it") func facts() {
        let facts = SystemFacts.ofProcess()
        #expect(facts.sealingFailure() == nil && facts.descriptorLimit() > 0 && facts.userID == geteuid())
        // A file that is no sealed memory.
        #expect(facts.ringFault(ReceivedDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))) != nil)
    }
}
