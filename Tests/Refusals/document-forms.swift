// expect: nothing
// flags: -warnings-as-errors
// Documents and their views, in every form that the documentation has.
import RelayEvents

struct Boxes: Equatable, Sendable { var labels: [String] = [] }
@MainActor final class List: DocumentView {
    var rows: [String] = []
    func show(_ boxes: Boxes) { rows = boxes.labels }
}
@MainActor final class Slow: DocumentView {
    @MainActor func show(_ boxes: Boxes) async { await Task.yield() }
}
actor Ledger: DocumentView {
    var count = 0
    func show(_ boxes: Boxes) { count = boxes.labels.count }
    func start(_ document: LocalDocument<Boxes>) {
        document.addView(self, key: "ledger")
        document.addView(key: "count") { self.count = $0.labels.count }
    }
}
final class Audit: DocumentView, Sendable { func show(_ boxes: Boxes) {} }
/// Views of several kinds, and no type of a view in the owner.
@MainActor final class Owner {
    let document = LocalDocument(Boxes())
    let list = List()
    var title = ""
    func start() {
        document.addView(list, key: "list")
        document.addView(Slow(), key: 2)
        document.addView(Audit(), key: "audit", delivery: .background)
        document.addView(key: "title") { self.title = "\($0.labels.count)" }
        document.addView(key: "log", delivery: .immediate) { print($0.labels) }
    }
    func change() -> Int {
        document.set(Boxes(labels: ["Attic"]))
        document.update { $0.labels.append("Kitchen") }
        document.removeView(key: "title")
        document.removeAllViews()
        return document.update { boxes in
            boxes.labels.removeAll()
            return boxes.labels.count
        }
    }
}
