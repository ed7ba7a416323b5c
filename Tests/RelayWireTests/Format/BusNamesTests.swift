import CDBus
import TestTraits
import Testing

@testable import RelayWire

@Suite("Bus names", .tags(.g8)) struct BusNamesTests {
    @Test("random names are valid for us exactly when they are for libdbus")
    func agreement() {
        let alphabet = Array("aZ_-09./: :é\u{1}".unicodeScalars)
        var random = SeededGenerator(seed: 5)
        var accepted = 0
        for _ in 0..<30_000 {
            var name = ["", "", "/", ":", "a.", "/a/", "org.e"][random.below(7)]
            for _ in 0..<random.below(7) { name.unicodeScalars.append(alphabet[random.below(alphabet.count)]) }
            let verdicts: [(BusNameKind, UInt32)] = [
                (.objectPath, dbus_validate_path(name, nil)), (.interface, dbus_validate_interface(name, nil)),
                (.member, dbus_validate_member(name, nil)), (.errorName, dbus_validate_error_name(name, nil)),
            ]
            for (kind, verdict) in verdicts {
                accepted += verdict != 0 ? 1 : 0
                #expect(BusNames.isValid(name, as: kind) == (verdict != 0), "\(kind) '\(name)'")
            }
            // libdbus takes unique names of one part, which no bus gives and the specification excludes.
            if name.hasPrefix(":") {
                if BusNames.isBusName(name) { #expect(dbus_validate_bus_name(name, nil) != 0, "'\(name)'") }
            } else {
                #expect(BusNames.isWellKnownName(name) == (dbus_validate_bus_name(name, nil) != 0), "'\(name)'")
            }
        }
        #expect(accepted > 3_000)
    }
    @Test("a name has at most 255 bytes, a path any number") func length() {
        let long = String(repeating: "a", count: 253)
        #expect(BusNames.isInterface("\(long).b") && !BusNames.isInterface("\(long).bb"))
        #expect(BusNames.isMember("\(long)bb") && !BusNames.isMember("\(long)bbb"))
        #expect(BusNames.isUniqueName(":1.\(long.dropFirst())") && !BusNames.isUniqueName(":1.\(long)"))
        #expect(BusNames.isObjectPath("/" + long + "/" + long))
    }
    @Test("unique and well-known names are told apart") func kinds() {
        #expect(BusNames.isUniqueName(":1.42") && !BusNames.isWellKnownName(":1.42") && BusNames.isBusName(":1.42"))
        #expect(
            !BusNames.isUniqueName("org.a") && BusNames.isWellKnownName("org.a-b") && !BusNames.isInterface("org.a-b"))
        #expect(!BusNames.isUniqueName(":1") && !BusNames.isUniqueName(":") && !BusNames.isUniqueName(":1..2"))
        #expect(!BusNames.isMember("a\0") && !BusNames.isObjectPath("/a\0"))
    }
    @Test("a refusal shows name and rule, with nothing unprintable") func message() {
        let error = #expect(throws: RelayError.self) { try BusNames.check("org.\u{1B}[31m", as: .interface) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("interface name") == true && error?.message.contains("\u{1B}") == false)
        #expect(BusNames.quoted(String(repeating: "x", count: 1_000)).count < 110)
        #expect(BusNames.quoted("a\u{202E}\u{85}\u{7F}") == #"'a\u202e\u0085\u007f'"#)
    }
}
