import RelayJournal
import RelayTool
import TestTraits
import Testing

@testable import RelayDaemon

@Suite("relay-service check and backup", .tags(.g8))
struct JournalToolTests {
    private func refusal(_ arguments: String...) -> String? {
        do throws(UsageError) {
            _ = try JournalTool.parse(arguments)
            return nil
        } catch { return error.message }
    }

    @Test("what a command line asks for") func parsed() throws {
        #expect(try JournalTool.parse([]) == nil)
        #expect(try JournalTool.parse(["--session"]) == nil, "to serve")
        #expect(try JournalTool.parse(["check"]) == .run(JournalTool(task: .check(file: nil))))
        #expect(try JournalTool.parse(["check", "a.sqlite"]) == .run(JournalTool(task: .check(file: "a.sqlite"))))
        #expect(
            try JournalTool.parse(["check", "--state-directory", "/s"])
                == .run(JournalTool(task: .check(file: nil), stateDirectory: "/s")))
        #expect(
            try JournalTool.parse(["backup", "--state-directory=/s", "b"])
                == .run(JournalTool(task: .backUp(file: "b"), stateDirectory: "/s")))
    }
    @Test("what is wrong with one") func refused() {
        #expect(refusal("backup") == "'relay-service backup' needs the file to be made")
        #expect(refusal("backup", "a/") == "'a/' is no file; give the path of one to be made")
        #expect(refusal("check", "") == "'' is no file; give the path of one")
        #expect(
            refusal("check", "a", "--state-directory", "/s")
                == "two journals were asked for; give one of FILE and --state-directory DIR")
        #expect(refusal("check", "a", "b") != nil)
        #expect(refusal("backup", "--rate", "5", "b") != nil)
    }
    @Test("how far it is") func progress() {
        #expect(JournalTool.text(of: .copying(done: 199, total: 200)) == "copying: 99 % of 200 pages")
        #expect(JournalTool.text(of: .copying(done: 0, total: 0)) == "copying: 100 % of 0 pages")
        #expect(JournalTool.text(of: .checkingPages) == "checking the pages")
        #expect(JournalTool.text(of: .checkingEvents(done: 1, total: 3)) == "checking the events: 33 % of 3")
    }

    @Test("help as a whole") func help() throws {
        #expect(
            try JournalTool.parse(["backup", "--help"])
                == .print(
                    """
                    Usage: relay-service backup FILE [--state-directory DIR]

                    Copies the journal as of one moment, state and events, checks the copy in full, and gives it
                    the name FILE when it is whole and on the disk. FILE must not be there yet; only its user
                    can read it. A service goes on meanwhile; its log grows until the copy is made. On a
                    terminal, stderr shows how far it is.

                    Options:
                      --state-directory DIR  where the journal is
                      --version              the version
                      -h, --help             this text

                    Examples:
                      relay-service backup backup.sqlite
                          the journal of this user's service

                    Exit codes:
                      0   the copy is there, and sound
                      64  wrong usage, or FILE is there
                      65  the file is damaged, is no journal, or is of a newer version
                      70  an internal failure, or ended by a signal
                      73  there is no journal, it cannot be read, or FILE cannot be made
                      74  the disk is full, or has failed

                    """))
    }
}
