import TestTraits
import Testing

@testable import RelayTool
@Suite("Kinds of values on the command line", .tags(.g8))
struct ValueKindTests {
    private enum Fruit: String, CaseIterable { case apple, pear, plum }

    private func reason<Value>(_ text: String, _ kind: ValueKind<Value>) -> String? {
        do throws(Unfit) {
            _ = try kind.read(text)
            return nil
        } catch { return error.reason }
    }

    @Test(
        "of an address, the shape is enough",
        arguments: ["unix:path=/a", "unix:path=/a;tcp:host=b,port=1", "autolaunch:"])
    func address(_ text: String) throws { #expect(try ValueKind.busAddress.read(text) == text) }

    @Test(
        "what has not the shape of an address is refused with an example",
        arguments: ["", "/run/bus", "nonsense", ":", "unix:path=/a;", ":::;;"])
    func noAddress(_ text: String) {
        #expect(
            reason(text, .busAddress) == "is no D-Bus address; one looks like unix:path=/run/user/1000/bus")
    }

    @Test("a word is one of those that are declared; one that is nearly right is shown the right one")
    func words() throws {
        let kind = ValueKind<Fruit>.word("FRUIT")
        #expect(kind.words == ["apple", "pear", "plum"])
        for fruit in Fruit.allCases { #expect(try kind.read(fruit.rawValue) == fruit) }
        #expect(reason("aple", kind) == "is no fruit; did you mean 'apple'?")
        #expect(reason("Pear", kind) == "is no fruit; did you mean 'pear'?")
        for text in ["", "cabbage", "apple,pear", "apple "] {
            #expect(reason(text, kind)?.hasPrefix("is no fruit; ") == true, "\(text)")
        }
        #expect(reason("", kind) == "is no fruit; there are apple, pear and plum")
    }

    @Test("of a list, the refusal names the part that it is about")
    func lists() throws {
        let kind = ValueKind<[Fruit]>.list(of: .word("FRUIT"))
        #expect(kind.words == ["apple", "pear", "plum"])
        #expect(try kind.read("pear") == [.pear])
        #expect(try kind.read("pear,apple,pear") == [.pear, .apple, .pear])
        #expect(reason("aple", kind) == "is no fruit; did you mean 'apple'?")
        #expect(reason("pear,aple", kind) == "has 'aple', which is no fruit; did you mean 'apple'?")
        #expect(reason("pear,", kind) == "has '', which is no fruit; there are apple, pear and plum")
        #expect(reason("", kind) == "is no fruit; there are apple, pear and plum")
    }

    @Test("a count has digits alone, and lies in its range")
    func counts() throws {
        let kind = ValueKind.count(of: "events", 1...UInt64.max)
        #expect(try kind.read("1") == 1)
        #expect(try kind.read("0017") == 17)
        #expect(try kind.read("18446744073709551615") == .max)
        for text in ["", "0", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "１", "18446744073709551616"] {
            #expect(reason(text, kind) == "is no number of events from 1 on", "\(text)")
        }
        let few = ValueKind.count(of: "lines", 0...10)
        #expect(try few.read("0") == 0 && few.read("10") == 10)
        #expect(reason("11", few) == "is no number of lines from 0 to 10")
    }

    @Test("a decimal has digits and a point, and lies in its range")
    func decimals() throws {
        let kind = ValueKind.decimal("N", of: "samples a second", 0.1...10_000)
        #expect(try kind.read("0.1") == 0.1 && kind.read("10000") == 10_000 && kind.read("2.") == 2)
        for text in ["", ".", "0", "0.09", "10000.1", "-1", "+1", "1e3", "nan", "inf", "1,5", "1.5.2", "0x1p3"] {
            #expect(reason(text, kind) == "is no number of samples a second between 0.1 and 10000", "\(text)")
        }
    }

    @Test(
        "a word for a shell is quoted where it has to be",
        arguments: [
            ("label=Kitchen", "label=Kitchen"), ("--since", "--since"), ("2026-11-20T13:00", "2026-11-20T13:00"),
            ("", "''"), ("a b", "'a b'"), (#"{"a":1}"#, #"'{"a":1}'"#), ("it's", #"'it'\''s'"#), ("$HOME", "'$HOME'"),
            ("é", "'é'"), ("~", "'~'"), ("x'\u{301};id;'\u{301}", "'x'\\''\u{301};id;'\\''\u{301}'"),
        ])
    func quoting(word: String, expected: String) {
        // Scalar by scalar, as a shell reads it: equal strings can differ in that.
        #expect(Array(Words.quoted(word).unicodeScalars) == Array(expected.unicodeScalars))
    }
}
