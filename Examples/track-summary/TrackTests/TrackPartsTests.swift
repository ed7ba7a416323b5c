import RelayCore
import RelayTestKit
import Testing
import TrackDesk
import TrackFile
import TrackFrontend
import TrackViews
import Tracks

/// Each object of the chain alone, with doubles at both of its ends.
@MainActor @Suite("The parts of the chain, each alone") struct TrackPartsTests {
    private let line = Track(
        name: "Line", segments: [[0, 1].map { TrackPoint(latitudeDegrees: 0, longitudeDegrees: $0) }])

    @Test("the view publishes what people do, and draws what differs") func view() {
        let recorder = RecordingSink()
        var lines: [String] = []
        let panel = TrackPanel(recorder.publisher) { lines.append($0) }
        panel.choose(file: "a.gpx")
        panel.enter(name: "Elbe", for: 3)
        #expect(
            recorder.events(of: TrackViewEvent.self) == [
                .fileChosen(path: "a.gpx"), .nameEntered(trackID: 3, name: "Elbe"),
            ])
        let (elbe, oder) = (
            TrackViewData.Row(trackID: 1, title: "Elbe", lines: ["long"]),
            TrackViewData.Row(trackID: 2, title: "Oder", lines: [])
        )
        panel.show(TrackViewData(rows: [elbe]))
        panel.show(TrackViewData(rows: [elbe], trouble: "no"))
        panel.show(TrackViewData(rows: [elbe], trouble: "no"))
        panel.show(TrackViewData(rows: [elbe, oder]))
        let labe = TrackViewData.Row(trackID: 1, title: "Labe", lines: elbe.lines)
        panel.show(TrackViewData(rows: [labe, oder]))
        #expect(lines == ["#1 Elbe", "   long", "! no", "#2 Oder", "#1 Labe"])
    }

    @Test("the handler makes one command of each view event, in their order") func handler() async {
        let (publisher, commands) = (EventPublisher(), RecordingCommands())
        let handler = TrackEventHandler(publisher, commands: commands, files: FilesOfTest(text: "<gpx/>"))
        publisher.publish(TrackViewEvent.nameEntered(trackID: 1, name: "A"))
        publisher.publish(TrackViewEvent.fileChosen(path: "track.gpx"))
        publisher.publish(TrackViewEvent.nameEntered(trackID: 1, name: "B"))
        #expect(await eventually { commands.calls.count == 3 })
        #expect(commands.calls == [.rename(1, "A"), .importTrack(bytes: 6), .rename(1, "B")])
        withExtendedLifetime(handler) {}
    }
    @Test("the handler publishes what cannot be done, and goes on") func trouble() async {
        let recorder = RecordingSink()
        let commands = RecordingCommands(refusing: TrackTrouble("no"))
        let handler = TrackEventHandler(recorder.publisher, commands: commands, files: FilesOfTest())
        recorder.publisher.publish(TrackViewEvent.fileChosen(path: "absent.gpx"))
        recorder.publisher.publish(TrackViewEvent.nameEntered(trackID: 1, name: "A"))
        #expect(await recorder.wait(for: 2, of: TrackTrouble.self))
        #expect(
            recorder.events(of: TrackTrouble.self) == [TrackTrouble("absent.gpx is not there"), TrackTrouble("no")])
        #expect(commands.calls == [.rename(1, "A")])
        withExtendedLifetime(handler) {}
    }
    @Test("the handler's commands arrive at a service, and a refusal comes back as its message") func commands()
        async throws
    {
        let harness = TestHarness()
        let service = try EventService(
            name: "org.example.Tracks", on: harness.bus, exporting: Tracks1.self, journal: MemoryLog())
        service.handle(ImportTrack.self) { command, _ in
            throw ImportTrack.Refusal.notATrack("line 7: \(command.gpx.count) bytes")
        }
        service.handle(RenameTrack.self) { _, _ in throw RenameTrack.Refusal.unknownTrack }
        service.handle(ListTracks.self) { _, _ in ListTracks.Reply(epoch: 1, sequence: 0, tracks: []) }
        try await harness.start(service)
        let relay = try EventRelay(following: "org.example.Tracks", on: harness.bus, interfaces: Tracks1.self)
        relay.activate()
        let recorder = RecordingSink()
        let handler = TrackEventHandler(recorder.publisher, commands: relay, files: FilesOfTest(text: "gpx"))
        recorder.publisher.publish(TrackViewEvent.fileChosen(path: "track.gpx"))
        recorder.publisher.publish(TrackViewEvent.nameEntered(trackID: 5, name: "A"))
        #expect(await recorder.wait(for: 2, of: TrackTrouble.self))
        #expect(
            recorder.events(of: TrackTrouble.self).map(\.text) == [
                "line 7: 3 bytes", "there is no track of this number",
            ])
        relay.invalidate()
        withExtendedLifetime(handler) {}
    }

    @Test("the interactor measures a track, names it, and publishes it") func add() throws {
        var unit = RecordingTracks()
        #expect(try TrackInteractor().add(line, in: &unit) == 1)
        let summary = try #require(unit.tracks[1])
        #expect(summary.name == "Line" && summary.pointCount == 2 && summary.ascentMetres == nil)
        #expect(abs(summary.distanceMetres - 111_195) < 1)
        #expect(unit.recording.events(of: TrackImported.self) == [TrackImported(track: summary)])
        #expect(throws: ImportTrack.Refusal.self) { try TrackInteractor().add(Track(segments: []), in: &unit) }
        #expect(unit.recording.events.count == 1)
    }
    @Test(
        "a file's name for its track is made fit to be shown",
        arguments: [
            (nil, "unnamed"), ("", "unnamed"), ("\u{1b}]0;x\u{7}", " ]0;x "), ("a\nb", "a b"), ("  ", "unnamed"),
            ("\u{202e}", "unnamed"), (String(repeating: "x", count: 99), String(repeating: "x", count: 80)),
        ] as [(String?, String)])
    func names(_ given: String?, _ name: String) throws {
        var unit = RecordingTracks()
        _ = try TrackInteractor().add(Track(name: given, segments: line.segments), in: &unit)
        #expect(unit.tracks[1]?.name == name)
    }
    @Test("the interactor renames, once, and refuses what is no name and no track") func rename() throws {
        var unit = RecordingTracks(tracks: [1: .made()])
        let interactor = TrackInteractor()
        for _ in 1...2 { try interactor.rename(RenameTrack(trackID: 1, name: "Labe"), in: &unit) }
        for name in ["", " ", "a\nb", "\u{202e}x", String(repeating: "x", count: 81)] {
            #expect(throws: RenameTrack.Refusal.unfitName) {
                try interactor.rename(RenameTrack(trackID: 1, name: name), in: &unit)
            }
        }
        #expect(throws: RenameTrack.Refusal.unknownTrack) {
            try interactor.rename(RenameTrack(trackID: 2, name: "Oder"), in: &unit)
        }
        #expect(unit.tracks[1]?.name == "Labe")
        #expect(unit.recording.events(of: TrackRenamed.self) == [TrackRenamed(trackID: 1, name: "Labe")])
    }

    @Test("the presenter makes texts of events") func presenter() {
        let view = RecordingView()
        let presenter = TrackPresenter(view, EventPublisher())
        presenter.show(ListTracks.Reply(epoch: 1, sequence: 0, tracks: [.made(2)]))
        presenter.apply(.imported(TrackImported(track: .made(1, ascent: 1_499.6, seconds: 11_520))))
        presenter.apply(.renamed(TrackRenamed(trackID: 2, name: "Labe")))
        presenter.apply(.renamed(TrackRenamed(trackID: 9, name: "unknown")))
        presenter.show("no service")
        let frame = "1.3° S to 54.0° N, 8.5° E to 170.0° W"
        let first = TrackViewData.Row(
            trackID: 1, title: "Elbe", lines: ["1,234 points, 1,094.3 km", "1,500 m of ascent, 3 h 12 min", frame])
        func second(_ title: String) -> TrackViewData.Row {
            .init(trackID: 2, title: title, lines: ["1,234 points, 1,094.3 km", "no elevations, no times", frame])
        }
        #expect(
            view.shown == [
                TrackViewData(rows: [second("Elbe")]), TrackViewData(rows: [first, second("Elbe")]),
                TrackViewData(rows: [first, second("Labe")]), TrackViewData(rows: [first, second("Labe")]),
                TrackViewData(rows: [first, second("Labe")], trouble: "no service"),
            ])
    }
    @Test("a new state replaces the old one, and numbers that are none have a text") func numbers() {
        let view = RecordingView()
        let presenter = TrackPresenter(view, EventPublisher())
        presenter.show(ListTracks.Reply(epoch: 1, sequence: 0, tracks: [.made(1)]))
        presenter.show(
            ListTracks.Reply(
                epoch: 2, sequence: 0,
                tracks: [.made(2, points: -5, metres: .nan, ascent: .infinity, seconds: 59), .made(3, metres: 1e300)]))
        #expect(view.shown.last?.rows.map(\.trackID) == [2, 3])
        #expect(view.shown.last?.rows.first?.lines.prefix(2) == ["-5 points, – km", "– m of ascent, 1 min"])
        #expect(view.shown.last?.rows.last?.lines.first == "1,234 points, – km")
    }
    @Test("the presenter shows trouble that a handler publishes") func presentedTrouble() async {
        let (view, publisher) = (RecordingView(), EventPublisher())
        let presenter = TrackPresenter(view, publisher)
        publisher.publish(TrackTrouble("not there"))
        #expect(await eventually { view.shown == [TrackViewData(rows: [], trouble: "not there")] })
        withExtendedLifetime(presenter) {}
    }
}
