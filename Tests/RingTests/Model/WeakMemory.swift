/// Memory as the C++ model has it, read as a machine: every place keeps all of its stores in their order, and a thread may read
/// any of them that is not older than what it knows of.
///
/// So loads may be early or late, stores may become visible in another order than they were made in, and to one thread before
/// another. Acquire, release and fences move knowledge, as they do in the C++ model; a full fence moves it both ways through one
/// view for all. What is left out: a store that is made before an earlier load of its thread.
struct WeakMemory: Hashable {
    struct Message: Hashable {
        var value: Int
        /// What its reader learns by it.
        var view: WeakView
        /// By an exchange: nothing comes between it and what it read.
        var isGlued = false
    }
    struct Knowledge: Hashable {
        /// What the thread's own accesses go by.
        var current = WeakView()
        /// What an acquire fence will add: the views of all that was read.
        var read = WeakView()
        /// What the thread's relaxed stores hand on: its view at its last release fence.
        var released = WeakView()
    }
    enum Order { case relaxed, acquire, release }

    private(set) var places: [[Message]]
    var threads: [Knowledge]
    private var full = WeakView()

    init(places: Int, threads: Int) {
        self.places = [[Message]](repeating: [Message(value: 0, view: WeakView())], count: places)
        self.threads = [Knowledge](repeating: Knowledge(), count: threads)
    }

    /// What the kernel compares: the newest store, of which the thread then knows.
    func latest(_ place: Int, by thread: Int) -> (Int, WeakMemory) {
        var after = self
        after.threads[thread].current[place] = places[place].count - 1
        return (places[place].last!.value, after)
    }

    /// Every store that this load may read, as (its value, the memory afterwards).
    func loads(_ place: Int, _ order: Order, by thread: Int) -> [(Int, WeakMemory)] {
        (threads[thread].current[place]..<places[place].count).map { number in
            var after = self
            let message = places[place][number]
            after.threads[thread].current[place] = number
            after.threads[thread].read = after.threads[thread].read.joined(message.view)
            if order == .acquire {
                after.threads[thread].current = after.threads[thread].current.joined(message.view)
            }
            return (message.value, after)
        }
    }
    /// Every place in the order of stores that this one may take.
    func stores(_ place: Int, _ value: Int, _ order: Order, by thread: Int) -> [WeakMemory] {
        let free = (threads[thread].current[place] + 1...places[place].count).filter {
            $0 == places[place].count || !places[place][$0].isGlued
        }
        return free.map { number in
            var after = self
            if number < places[place].count { after.makeRoom(place, before: number) }
            after.threads[thread].current[place] = number
            var view = order == .release ? after.threads[thread].current : after.threads[thread].released
            view[place] = number
            after.places[place].insert(Message(value: value, view: view), at: number)
            return after
        }
    }
    /// An exchange: reads the newest, and stores right behind it.
    func exchanged(_ place: Int, _ value: Int, by thread: Int) -> (Int, WeakMemory) {
        var after = self
        let message = places[place].last!
        let number = places[place].count
        after.threads[thread].current = after.threads[thread].current.joined(message.view)
        after.threads[thread].current[place] = number
        after.places[place].append(Message(value: value, view: after.threads[thread].current, isGlued: true))
        return (message.value, after)
    }
    mutating func acquireFence(by thread: Int) {
        threads[thread].current = threads[thread].current.joined(threads[thread].read)
    }
    mutating func releaseFence(by thread: Int) { threads[thread].released = threads[thread].current }
    mutating func fullFence(by thread: Int) {
        acquireFence(by: thread)
        full = full.joined(threads[thread].current)
        threads[thread].current = full
        releaseFence(by: thread)
    }
    /// What a lock, held by one and then the other, hands on.
    mutating func handOver(from: Int, to: Int) {
        threads[to].current = threads[to].current.joined(threads[from].current)
    }

    /// Forgets what cannot matter any more, so that states which differ in nothing else are one.
    ///
    /// - Parameter users: which threads read or write a place.
    mutating func forget(users: (Int) -> [Int]) {
        for place in places.indices {
            let count = users(place).map { threads[$0].current[place] }.min() ?? places[place].count - 1
            if count == 0 { continue }
            places[place].removeFirst(count)
            for thread in threads.indices {
                threads[thread].current.drop(count, at: place)
                threads[thread].read.drop(count, at: place)
                threads[thread].released.drop(count, at: place)
            }
            for other in places.indices {
                for message in places[other].indices { places[other][message].view.drop(count, at: place) }
            }
            full.drop(count, at: place)
        }
        for thread in threads.indices {
            threads[thread].read = threads[thread].read.without(threads[thread].current)
        }
    }
    private mutating func makeRoom(_ place: Int, before number: Int) {
        for thread in threads.indices {
            threads[thread].current.makeRoom(at: place, before: number)
            threads[thread].read.makeRoom(at: place, before: number)
            threads[thread].released.makeRoom(at: place, before: number)
        }
        for other in places.indices {
            for message in places[other].indices {
                places[other][message].view.makeRoom(at: place, before: number)
            }
        }
        full.makeRoom(at: place, before: number)
    }
}
