// expect: requires the types
import RelayCore
enum Shop1: EventInterface {
    static let name = "org.example.Shop1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Sold.self }
    struct Sold: DomainEvent { typealias Interface = Shop1 }
}
enum Shop2: EventInterface {
    static let name = "org.example.Shop2"
    static var contract: Contract<Self> { Sold.self }
    struct Sold: DomainEvent { typealias Interface = Shop2 }
}
let older = Shop2.serving(Shop1.self) { older in
    older.event(Shop2.Sold.self) { _ in Shop1.Sold() }
}
