import RelayCore

@testable import RelayJournal
/// The rows of EVOLUTION's table.
enum ChangeRows {
    static let events: [ChangeRow] = [
        .event(
            "event: fields in another order", in: "fields in another order", Before.Reordered(a: 1, b: "x"),
            After.Reordered(b: "y", a: 2),
            oldReads: Before.Reordered(a: 2, b: "y"), newReads: After.Reordered(b: "x", a: 1), cells: (.works, .works)),
        .event(
            "an optional field is added", in: "field: optional, added", Before.Grown(a: 1), After.Grown(b: "y", a: 2),
            oldReads: Before.Grown(a: 2),
            newReads: After.Grown(b: nil, a: 1), cells: (.works, .works)),
        .event(
            "a required field is added", in: "field: required, added", Before.Needy(a: 1), After.Needy(a: 2, b: "y"),
            oldReads: Before.Needy(a: 2),
            newReads: nil, cells: (.works, .gap)),
        .event(
            "an optional field is removed", in: "field: optional, removed", Before.Shrunk(a: 1, b: "x"),
            After.Shrunk(a: 2),
            oldReads: Before.Shrunk(a: 2, b: nil), newReads: After.Shrunk(a: 1), cells: (.works, .works)),
        .event(
            "a required field is removed", in: "field: required, removed", Before.Lost(a: 1, b: "x"), After.Lost(a: 2),
            oldReads: nil,
            newReads: After.Lost(a: 1), cells: (.gap, .works)),
        .event(
            "a field is renamed, with its former name", in: "field: renamed, with its former name",
            Before.Renamed(a: 1, b: "x"), After.Renamed(a: 2, c: "y"),
            oldReads: Before.Renamed(a: 2, b: "y"), newReads: After.Renamed(a: 1, c: "x"), cells: (.works, .works)),
        .event(
            "a field is renamed, without it", in: "field: renamed without it, or of another type",
            Before.Replaced(a: 1, b: "x"), After.Replaced(a: 2, c: "y"),
            oldReads: nil, newReads: nil, cells: (.gap, .gap)),
        .event(
            "a field gets another type", in: "field: renamed without it, or of another type", Before.Retyped(a: 1),
            After.Retyped(a: "y"), oldReads: nil, newReads: nil,
            cells: (.gap, .gap)),
        .event(
            "a required field becomes optional", in: "field: renamed without it, or of another type",
            Before.Loosened(a: 1), After.Loosened(a: 2), oldReads: nil,
            newReads: nil, cells: (.gap, .gap)),
        .event(
            "an optional field is added in a nested struct, an array, a dictionary", in: "field: optional, added",
            Before.Nested(list: [.init(a: 1), .init(a: 2)], byName: ["k": .init(a: 3)], one: .init(a: 4)),
            After.Nested(list: [.init(b: "y", a: 5)], byName: ["k": .init(b: "z", a: 6)], one: nil),
            oldReads: Before.Nested(list: [.init(a: 5)], byName: ["k": .init(a: 6)], one: nil),
            newReads: After.Nested(
                list: [.init(b: nil, a: 1), .init(b: nil, a: 2)], byName: ["k": .init(b: nil, a: 3)],
                one: .init(b: nil, a: 4)),
            cells: (.works, .works)),
        .event(
            "a required field is added in a nested struct", in: "field: required, added",
            Before.NestedNeedy(part: .init(a: 1)),
            After.NestedNeedy(part: .init(a: 2, b: "y")), oldReads: Before.NestedNeedy(part: .init(a: 2)),
            newReads: nil, cells: (.works, .gap)),
        .event(
            "a case with a payload is added", in: "case: added, in an event, a reply or a document",
            Before.Chosen(state: .printing(page: 1)),
            After.Chosen(state: .failed(reason: "y")), oldReads: nil,
            newReads: After.Chosen(state: .printing(page: 1)), cells: (.gap, .works)),
        .event(
            "a case is added to an open enum", in: "case: added, in an event, a reply or a document",
            Before.OpenChosen(state: .idle),
            After.OpenChosen(state: .asleep(since: 7)),
            oldReads: Before.OpenChosen(state: .unknown(UnknownCase(name: "asleep", payload: "(7)"))),
            newReads: After.OpenChosen(state: .idle), cells: (.unknown, .works)),
        .event(
            "a case is removed", in: "case: removed, in an event, a reply or a document",
            Before.Dropped(state: .asleep),
            After.Dropped(state: .idle),
            oldReads: Before.Dropped(state: .idle), newReads: nil, cells: (.works, .gap)),
        .event(
            "an optional field is added to a payload", in: "field: optional, added", Before.Paid(by: .card(number: 1)),
            After.Paid(by: .card(holder: "y", number: 2)), oldReads: Before.Paid(by: .card(number: 2)),
            newReads: After.Paid(by: .card(holder: nil, number: 1)), cells: (.works, .works)),
        .event(
            "a raw value is added to an enum", in: "case: added, in an event, a reply or a document",
            Before.Raw(level: .high), After.Raw(level: .extreme),
            oldReads: nil,
            newReads: After.Raw(level: .high), cells: (.gap, .works)),
        ChangeRow(
            change: "an event is added", member: "New", entry: "an event, a command or a document added",
            oldFrontEnd: .none, newFrontEnd: .gap, journal: .none
        ) { world in
            let seen = try await world.first(1, After.New.self, by: world.new)
            guard case .gap(let gap) = seen[0], gap.reason == .schemaMismatch else { return .wrong }
            return .gap
        } after: { world in
            try await world.service.publish(After.New(a: 1))
            let seen = try await world.first(1, After.New.self, by: world.new)
            guard case .event(After.New(a: 1), _) = seen[0] else { return (.wrong, .wrong) }
            return (.none, .none)
        },
        ChangeRow(
            change: "an event is removed", member: "Gone", entry: "an event removed", oldFrontEnd: .nothing,
            newFrontEnd: .none, journal: .works
        ) { world in
            try await world.service.publish(Before.Gone(a: 1))
            return .none
        } after: { world in
            let seen = try await world.first(1, Before.Gone.self, by: world.old)
            guard case .event(Before.Gone(a: 1), _) = seen[0] else { return (.wrong, .wrong) }
            return (.nothing, .works)
        },
    ]

    static let commands: [ChangeRow] = [
        .command(
            "command: arguments in another order", in: "fields in another order",
            old: [
                .runs(
                    Before.Move(from: 1, to: 2), as: After.Move(to: 2, from: 1), reply: .init(number: 2))
            ],
            new: [
                .runs(After.Move(to: 4, from: 3), as: Before.Move(from: 3, to: 4), reply: .init(number: 1))
            ],
            keyed: Before.Move(from: 5, to: 6, idempotencyKey: "k"),
            again: .gets(After.Move(to: 6, idempotencyKey: "k", from: 5), .init(number: 1)),
            cells: (.works, .works, .works)),
        .command(
            "an optional argument is added", in: "argument: optional, added",
            old: [.runs(Before.GrownArgument(a: 1), as: After.GrownArgument(a: 1), reply: .init(number: 2))],
            new: [
                .runs(After.GrownArgument(a: 2), as: Before.GrownArgument(a: 2), reply: .init(number: 1)),
                .refused(After.GrownArgument(b: "y", a: 3)),
            ],
            keyed: Before.GrownArgument(a: 4, idempotencyKey: "k"),
            again: .gets(After.GrownArgument(a: 4, idempotencyKey: "k"), .init(number: 1)),
            cells: (.works, .refusedWithValue, .works)),
        .command(
            "a required argument is added", in: "argument: required, added or removed",
            old: [.refused(Before.NeedyArgument(a: 1))],
            new: [.refused(After.NeedyArgument(a: 2, b: "y"))],
            keyed: Before.NeedyArgument(a: 4, idempotencyKey: "k"),
            again: .fails(After.NeedyArgument(a: 4, b: "y", idempotencyKey: "k"), .keyReused),
            cells: (.refused, .refused, .none)),
        .command(
            "an optional argument is removed", in: "argument: optional, removed",
            old: [
                .runs(Before.ShrunkArgument(a: 1), as: After.ShrunkArgument(a: 1), reply: .init(number: 2)),
                .refused(Before.ShrunkArgument(a: 1, b: "x")),
            ],
            new: [.runs(After.ShrunkArgument(a: 2), as: Before.ShrunkArgument(a: 2), reply: .init(number: 1))],
            keyed: Before.ShrunkArgument(a: 4, idempotencyKey: "k"),
            again: .gets(After.ShrunkArgument(a: 4, idempotencyKey: "k"), .init(number: 1)),
            cells: (.refusedWithValue, .works, .works)),
        .command(
            "a required argument is removed", in: "argument: required, added or removed",
            old: [.refused(Before.LostArgument(a: 1, b: "x"))],
            new: [.refused(After.LostArgument(a: 2))],
            keyed: Before.LostArgument(a: 4, b: "x", idempotencyKey: "k"),
            again: .fails(After.LostArgument(a: 4, idempotencyKey: "k"), .keyReused),
            cells: (.refused, .refused, .none)),
        .command(
            "an argument is renamed, with its former name", in: "argument: renamed, with its former name",
            old: [.runs(Before.RenamedArgument(a: 1), as: After.RenamedArgument(c: 1), reply: .init(number: 2))],
            new: [.runs(After.RenamedArgument(c: 2), as: Before.RenamedArgument(a: 2), reply: .init(number: 1))],
            keyed: Before.RenamedArgument(a: 4, idempotencyKey: "k"),
            again: .gets(After.RenamedArgument(c: 4, idempotencyKey: "k"), .init(number: 1)),
            cells: (.works, .works, .works)),
        .command(
            "an argument gets another type", in: "argument: required, added or removed",
            old: [.refused(Before.RetypedArgument(a: 1))],
            new: [.refused(After.RetypedArgument(a: "y"))],
            keyed: Before.RetypedArgument(a: 4, idempotencyKey: "k"),
            again: .fails(After.RetypedArgument(a: "4", idempotencyKey: "k"), .keyReused),
            cells: (.refused, .refused, .none)),
        .command(
            "an optional field is added in an argument's struct", in: "argument: optional, added",
            old: [
                .runs(
                    Before.NestedArgument(parts: [.init(a: 1)]), as: After.NestedArgument(parts: [.init(b: nil, a: 1)]),
                    reply: .init(number: 2))
            ],
            new: [
                .runs(
                    After.NestedArgument(parts: [.init(b: nil, a: 2)]), as: Before.NestedArgument(parts: [.init(a: 2)]),
                    reply: .init(number: 1)),
                .refused(After.NestedArgument(parts: [.init(b: nil, a: 2), .init(b: "y", a: 3)])),
            ],
            keyed: Before.NestedArgument(parts: [.init(a: 4)], idempotencyKey: "k"),
            again: .gets(After.NestedArgument(parts: [.init(b: nil, a: 4)], idempotencyKey: "k"), .init(number: 1)),
            cells: (.works, .refusedWithValue, .works)),
        .command(
            "a case is added in an argument", in: "case: added, in an argument",
            old: [
                .runs(
                    Before.ChosenArgument(state: .printing(page: 1)),
                    as: After.ChosenArgument(state: .printing(page: 1)), reply: .init(number: 2))
            ],
            new: [
                .runs(
                    After.ChosenArgument(state: .idle), as: Before.ChosenArgument(state: .idle),
                    reply: .init(number: 1)),
                .refused(After.ChosenArgument(state: .failed(reason: "y"))),
            ],
            keyed: Before.ChosenArgument(state: .idle, idempotencyKey: "k"),
            again: .gets(After.ChosenArgument(state: .idle, idempotencyKey: "k"), .init(number: 1)),
            cells: (.works, .refusedWithValue, .works)),
        .command(
            "a case is removed in an argument", in: "case: removed, in an argument",
            old: [
                .runs(
                    Before.DroppedArgument(state: .idle), as: After.DroppedArgument(state: .idle),
                    reply: .init(number: 2)),
                .refused(Before.DroppedArgument(state: .asleep)),
            ],
            new: [
                .runs(
                    After.DroppedArgument(state: .idle), as: Before.DroppedArgument(state: .idle),
                    reply: .init(number: 1))
            ],
            keyed: Before.DroppedArgument(state: .idle, idempotencyKey: "k"),
            again: .gets(After.DroppedArgument(state: .idle, idempotencyKey: "k"), .init(number: 1)),
            cells: (.refusedWithCase, .works, .works)),
        .command(
            "an optional field is added to a reply", in: "field: optional, added",
            old: [.runs(Before.GrownReply(), as: After.GrownReply(), reply: .init(number: 2))],
            new: [.runs(After.GrownReply(), as: Before.GrownReply(), reply: .init(note: nil, number: 1))],
            keyed: Before.GrownReply(idempotencyKey: "k"),
            again: .gets(After.GrownReply(idempotencyKey: "k"), .init(note: nil, number: 1)),
            cells: (.works, .works, .works)),
        .command(
            "a required field is added to a reply", in: "field: required, added",
            old: [.runs(Before.NeedyReply(), as: After.NeedyReply(), reply: .init(number: 2))],
            new: [.refused(After.NeedyReply())], keyed: Before.NeedyReply(idempotencyKey: "k"),
            again: .fails(After.NeedyReply(idempotencyKey: "k"), .schemaMismatch),
            cells: (.works, .refused, .refused)),
        .command(
            "a required field is removed from a reply", in: "field: required, removed",
            old: [.refused(Before.LostReply())],
            new: [.runs(After.LostReply(), as: Before.LostReply(), reply: .init(number: 1))],
            keyed: Before.LostReply(idempotencyKey: "k"),
            again: .gets(After.LostReply(idempotencyKey: "k"), .init(number: 1)), cells: (.refused, .works, .works)),
        .command(
            "a case is added in a reply", in: "case: added, in an event, a reply or a document",
            old: [.ran(Before.ChosenReply(), as: After.ChosenReply())],
            new: [.runs(After.ChosenReply(), as: Before.ChosenReply(), reply: .init(state: .printing(page: 1)))],
            keyed: Before.ChosenReply(idempotencyKey: "k"),
            again: .gets(After.ChosenReply(idempotencyKey: "k"), .init(state: .printing(page: 1))),
            cells: (.ran, .works, .works)),
        ChangeRow(
            change: "a refusal is added", member: "Refusing", entry: "rest: a refusal added", oldFrontEnd: .undeclared,
            newFrontEnd: .works, journal: .none
        ) { world in
            guard case .refused(.closed) = await world.new.outcome(of: After.Refusing()) else { return .wrong }
            return .works
        } after: { world in
            guard case .failed(let error) = await world.old.outcome(of: Before.Refusing()) else {
                return (.wrong, .none)
            }
            return (error.message.contains("Full") ? .undeclared : .wrong, .none)
        },
        ChangeRow(
            change: "a refusal is removed", member: "Lenient", entry: "rest: a refusal removed", oldFrontEnd: .works,
            newFrontEnd: .undeclared, journal: .none
        ) { world in
            guard case .failed(let error) = await world.new.outcome(of: After.Lenient()) else { return .wrong }
            return error.message.contains("Full") ? .undeclared : .wrong
        } after: { world in
            guard case .refused(.closed) = await world.old.outcome(of: Before.Lenient()) else { return (.wrong, .none) }
            return (.works, .none)
        },
        ChangeRow(
            change: "a command is added", member: "Introduced", entry: "an event, a command or a document added",
            oldFrontEnd: .none, newFrontEnd: .noMember, journal: .none
        ) { world in
            guard case .failed(let error) = await world.new.outcome(of: After.Introduced()) else { return .wrong }
            return error.code == .notFound && !error.mayHaveRun ? .noMember : .wrong
        } after: { _ in
            (.none, .none)
        },
        ChangeRow(
            change: "a command is removed", member: "Withdrawn", entry: "a command or a document removed",
            oldFrontEnd: .noMember, newFrontEnd: .none, journal: .none
        ) { _ in
            .none
        } after: { world in
            guard case .failed(let error) = await world.old.outcome(of: Before.Withdrawn()) else {
                return (.wrong, .none)
            }
            return (error.code == .notFound && !error.mayHaveRun ? .noMember : .wrong, .none)
        },
    ]

    /// The handlers of the old service.
    static func answerBefore(_ world: ChangeWorld) {
        let done = Before.Done(number: 1)
        world.answer(Before.Move.self) { _ in done }
        world.answer(Before.GrownArgument.self) { _ in done }
        world.answer(Before.NeedyArgument.self) { _ in done }
        world.answer(Before.ShrunkArgument.self) { _ in done }
        world.answer(Before.LostArgument.self) { _ in done }
        world.answer(Before.RenamedArgument.self) { _ in done }
        world.answer(Before.RetypedArgument.self) { _ in done }
        world.answer(Before.NestedArgument.self) { _ in done }
        world.answer(Before.ChosenArgument.self) { _ in done }
        world.answer(Before.GrownReply.self) { _ in done }
        world.answer(Before.NeedyReply.self) { _ in done }
        world.answer(Before.LostReply.self) { _ in .init(number: 1, name: "one") }
        world.answer(Before.ChosenReply.self) { _ in .init(state: .printing(page: 1)) }
        world.answer(Before.Refusing.self) { _ in throw Before.Refusing.Refusal.closed }
        world.answer(Before.DroppedArgument.self) { _ in done }
        world.answer(Before.Lenient.self) { _ in throw Before.Lenient.Refusal.full }
        world.answer(Before.Withdrawn.self) { _ in done }
        world.answer(Before.Guarded.self) { _ in done }
        world.answer(Before.Unkeyed.self) { _ in done }
    }
    /// The handlers of the new service.
    static func answerAfter(_ world: ChangeWorld) {
        let done = After.Done(number: 2)
        world.answer(After.Move.self) { _ in done }
        world.answer(After.GrownArgument.self) { _ in done }
        world.answer(After.NeedyArgument.self) { _ in done }
        world.answer(After.ShrunkArgument.self) { _ in done }
        world.answer(After.LostArgument.self) { _ in done }
        world.answer(After.RenamedArgument.self) { _ in done }
        world.answer(After.RetypedArgument.self) { _ in done }
        world.answer(After.NestedArgument.self) { _ in done }
        world.answer(After.ChosenArgument.self) { _ in done }
        world.answer(After.GrownReply.self) { _ in .init(note: "new", number: 2) }
        world.answer(After.NeedyReply.self) { _ in .init(number: 2, name: "two") }
        world.answer(After.LostReply.self) { _ in done }
        world.answer(After.ChosenReply.self) { _ in .init(state: .failed(reason: "paper")) }
        world.answer(After.Refusing.self) { _ in throw After.Refusing.Refusal.full }
        world.answer(After.DroppedArgument.self) { _ in done }
        world.answer(After.Lenient.self) { _ in throw After.Lenient.Refusal.closed }
        world.answer(After.Introduced.self) { _ in done }
        world.answer(After.Guarded.self) { _ in done }
        world.answer(After.Unkeyed.self) { _ in done }
    }
}
