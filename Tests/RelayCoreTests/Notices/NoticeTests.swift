import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

@Suite("Notices of a running service", .heavy, .tags(.g3, .g4)) struct NoticeTests {
    private static let second: UInt64 = 1_000_000_000
    private static let kind = Notice.Kind.limitsExceeded
    private func due(_ limiter: inout NoticeRateLimiter, _ now: UInt64) -> [String] {
        limiter.due(now: now).map(\.description)
    }

    @Test("G3: of a kind the first five are reported, the rest counted and reported with the minute's end")
    func burst() {
        var limiter = NoticeRateLimiter()
        let reported = (1...8).map { number in limiter.admit(Self.kind, .warning, { "\(number)" }, now: 0)?.message }
        #expect(reported == ["1", "2", "3", "4", "5", nil, nil, nil])
        #expect(limiter.nextDue == 60 * Self.second)
        let early = due(&limiter, 60 * Self.second - 1)
        #expect(early == [])
        let summary = due(&limiter, 60 * Self.second)
        #expect(summary == ["6 (and 2 more)"])
        #expect(limiter.nextDue == nil)
    }
    @Test("G3: a kind that goes on is reported once a minute, and anew after a quiet minute")
    func lasting() {
        var limiter = NoticeRateLimiter()
        for _ in 1...6 { _ = limiter.admit(Self.kind, .warning, { "a" }, now: 0) }
        let first = due(&limiter, 60 * Self.second)
        #expect(first == ["a"])
        let soon = limiter.admit(Self.kind, .warning, { "b" }, now: 61 * Self.second)
        #expect(soon?.message == nil)
        let second = due(&limiter, 120 * Self.second)
        #expect(second == ["b"])
        let quiet = due(&limiter, 180 * Self.second)
        #expect(quiet == [])
        let later = limiter.admit(Self.kind, .warning, { "c" }, now: 180 * Self.second)
        #expect(later?.message == "c")
    }
    @Test("Without anybody who asks for what is due, a quiet minute is enough, too")
    func quiet() {
        var limiter = NoticeRateLimiter()
        for _ in 1...5 { _ = limiter.admit(Self.kind, .warning, { "a" }, now: 0) }
        #expect(limiter.nextDue == nil)
        let later = limiter.admit(Self.kind, .warning, { "b" }, now: 60 * Self.second)
        #expect(later?.message == "b")
    }
    @Test("Kinds do not hide each other") func kinds() {
        var limiter = NoticeRateLimiter()
        for _ in 1...6 { _ = limiter.admit(Self.kind, .warning, { "a" }, now: 0) }
        let other = limiter.admit(.storageFull, .error, { "full" }, now: 0)
        #expect(other?.message == "full")
        let last = limiter.finish()
        #expect(last.map(\.description) == ["a"])
        #expect(limiter.nextDue == nil)
    }
    @Test("What a notice concerns is kept, also of the first one that was left out") func subjects() {
        var limiter = NoticeRateLimiter()
        let subjects = (1...7 as ClosedRange<UInt64>).map { Notice.Subject(peer: ":1.\($0)", sequence: $0) }
        for subject in subjects {
            let notice = limiter.admit(Self.kind, .warning, { "" }, of: { subject }, now: 0)
            #expect(notice.map { $0.subject == subject } ?? true)
        }
        let last = limiter.finish()
        #expect(last.map(\.subject) == [subjects[5]] && last.map(\.suppressed) == [1])
    }
    @Test("A message is made only if it is reported") func messages() {
        var (limiter, made) = (NoticeRateLimiter(), 0)
        for _ in 1...1_000 {
            _ = limiter.admit(
                Self.kind, .warning,
                {
                    made += 1
                    return ""
                }, now: 0)
        }
        #expect(made == NoticeRateLimiter.burst + 1)
    }

    @Test("The handler gets notices in their order; the end brings what was left out") func handler() async {
        let log = NoticeRecorder()
        let reporter = NoticeReporter(log.record)
        for number in 1...9 { reporter.report(Self.kind, .warning, "\(number)") }
        await reporter.finish(patience: .seconds(60))
        #expect(log.all.map(\.description) == ["1", "2", "3", "4", "5", "6 (and 3 more)"])
    }
    @Test("G4: a handler that blocks delays nobody who reports, nor the end") func blocked() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (gate, log) = (ends[0], NoticeRecorder())
        defer { for end in ends { close(end) } }
        let reporter = NoticeReporter { notice in
            var byte: UInt8 = 0
            _ = read(gate, &byte, 1)
            log.record(notice)
        }
        for number in 1...200 { reporter.report(Notice.Kind(rawValue: "\(number)"), .warning, "\(number)") }
        await reporter.finish(patience: .zero)
        #expect(log.all.isEmpty)
        #expect(write(ends[1], [UInt8](repeating: 0, count: 200), 200) == 200)
        await reporter.finish(patience: .seconds(60))
        // One that was with the handler already, and a queue of 64.
        #expect((64...65).contains(log.all.count))
    }
    @Test("A refused peer is reported, with who it is and why") func refused() async throws {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        _ = await peer.refusal(Desk.name, Desk.path, Desk1.name, "Restricted")
        #expect(await eventually { !desk.notices.all(of: .notPermitted).isEmpty })
        let notice = try #require(desk.notices.all(of: .notPermitted).first)
        #expect(notice.severity == .warning)
        #expect(notice.message.contains(peer.connection.uniqueName), "\(notice)")
        #expect(notice.message.contains("Restricted is for user 'no such user'"), "\(notice)")
        #expect(
            notice.subject
                == Notice.Subject(interface: Desk1.name, peer: peer.connection.uniqueName, code: .notPermitted))
        try await desk.stop()
    }
    @Test("a notice is one line on stderr: with the program's name, or with the priority that systemd's log takes")
    func line() {
        let notice = Notice(Self.kind, .warning, "two\nlines\u{1B}[31m", suppressed: 3)
        #expect(notice.line(isSystemLog: false).hasSuffix(": warning: two\\u000alines\\u001b[31m (and 3 more)"))
        #expect(!notice.line(isSystemLog: false).contains("\n"))
        for (severity, priority) in [(Notice.Severity.info, 6), (.warning, 4), (.error, 3)] {
            #expect(Notice(Self.kind, severity, "x").line(isSystemLog: true) == "<\(priority)>x")
        }
    }
}
