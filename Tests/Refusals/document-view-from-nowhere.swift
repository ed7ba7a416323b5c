// expect: 'nil' is not compatible with expected argument type 'any Actor'
import RelayEvents
final class Count: DocumentView {
    var last = 0
    func show(_ count: Int) { last = count }
}
func start(_ document: LocalDocument<Int>) { document.addView(Count(), key: "count") }
