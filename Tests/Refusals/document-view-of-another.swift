// expect: requires the types 'String' and 'Int' be equivalent
import RelayEvents
@MainActor final class Count: DocumentView { func show(_ count: Int) {} }
@MainActor func start(_ document: LocalDocument<String>) { document.addView(Count(), key: "count") }
