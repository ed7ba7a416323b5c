// expect: nothing
// flags: -warnings-as-errors
// Calls in every form that the documentation has, in a function, a method and a `Task` closure.
import RelayCore
import Relocation

func show(_ text: String) {}
let order = OrderBox(label: "Attic", capacity: 20)
let removal = RemoveBox(boxID: 1)

func outcomes(_ relay: EventRelay) async {
    switch await relay.outcome(of: order) {
    case .success(let reply): show("\(reply.boxID)")
    case .refused(.invalidLabel): show("label")
    case .refused(let failure): show(failure.message)
    case .failed(let error) where error.code == .timedOut: show("late")
    case .failed(let error): show(error.message)
    }
    // One without refusals needs no case for them; one without a reply has nothing to bind.
    switch await relay.outcome(of: Contents()) {
    case .success(let page): show("\(page.boxes.count)")
    case .failed(let error): show(error.message)
    }
    switch await relay.outcome(of: removal) {
    case .success: show("gone")
    case .refused(let failure): show(failure.message)
    case .failed(let error): show(error.message)
    }
    if await relay.outcome(of: removal) == .refused(.unknownBox) { show("none") }
}
func throwing(_ relay: EventRelay) async {
    do {
        let reply = try await relay.call(order)
        try await relay.call(RemoveBox(boxID: reply.boxID))
        _ = try await relay.call(Contents())
    } catch OrderBox.Refusal.invalidLabel {
        show("label")
    } catch let refusal as OrderBox.Refusal {
        show(refusal.message)
    } catch .unavailable {
        show("none")
    } catch {
        show("\(error)")
    }
    do { try await relay.call(removal) } catch RemoveBox.Refusal.unknownBox {
        show("none")
    } catch let refusal as any CommandRefusal {
        show(refusal.message)
    } catch let error as RelayError {
        show(error.message)
    } catch {}
    do { show("\(try await relay.outcome(of: order).get().boxID)") } catch { show("\(error)") }
}
/// Some codes only, in a function that throws on: with a variable, which a typed throw could not have here.
func partial(_ relay: EventRelay) async throws -> Int {
    var tries = 0
    let count: () -> Void = { tries += 1 }
    do {
        try await relay.call(removal)
        count()
    } catch .unavailable { tries += 2 }
    return tries
}
func passing(_ relay: EventRelay) async throws {
    let boxes = try await relay.call(Contents()).boxes
    for box in boxes { try await relay.call(RemoveBox(boxID: box.boxID)) }
}

@MainActor final class Model {
    let relay: EventRelay
    var line = ""
    init(_ relay: EventRelay) { self.relay = relay }

    func outcomes() async {
        switch await relay.outcome(of: order) {
        case .success(let reply): line = "\(reply.boxID)"
        case .refused(.invalidLabel): line = "label"
        case .refused(let failure): line = failure.message
        case .failed(let error): line = error.message
        }
        switch await relay.outcome(of: Contents()) {
        case .success(let page): line = "\(page.boxes.count)"
        case .failed(let error): line = error.message
        }
    }
    func throwing() async {
        do {
            let reply = try await relay.call(order)
            try await relay.call(RemoveBox(boxID: reply.boxID))
            _ = try await relay.call(Contents())
        } catch OrderBox.Refusal.invalidLabel {
            line = "label"
        } catch let refusal as OrderBox.Refusal {
            line = refusal.message
        } catch .unavailable {
            line = "none"
        } catch {
            line = "\(error)"
        }
        do { line = "\(try await relay.outcome(of: order).get().boxID)" } catch { line = "\(error)" }
    }
    func begin() {
        Task {
            switch await relay.outcome(of: order) {
            case .success(let reply): line = "\(reply.boxID)"
            case .refused(.invalidLabel): line = "label"
            case .refused(let failure): line = failure.message
            case .failed(let error): line = error.message
            }
            switch await relay.outcome(of: Contents()) {
            case .success(let page): line = "\(page.boxes.count)"
            case .failed(let error): line = error.message
            }
            do {
                let reply = try await relay.call(order)
                try await relay.call(RemoveBox(boxID: reply.boxID))
                _ = try await relay.call(Contents())
            } catch OrderBox.Refusal.invalidLabel {
                line = "label"
            } catch let refusal as OrderBox.Refusal {
                line = refusal.message
            } catch .unavailable {
                line = "none"
            } catch {
                line = "\(error)"
            }
            do { line = "\(try await relay.outcome(of: order).get().boxID)" } catch { line = "\(error)" }
        }
    }
}
