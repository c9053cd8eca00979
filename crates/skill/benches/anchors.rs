//! Hostile texts: the anchors of each rule, many times over. The rate must not fall as the text grows.

use criterion::{BenchmarkId, Criterion, Throughput};
use ringfence_skill::{Scanner, Tree, all_rules};

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    anchors(&mut criterion);
    criterion.final_summary();
}

fn anchors(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("anchors");
    group.sample_size(10);
    for rule in all_rules().into_iter().filter(|rule| rule.anchors().next().is_some()) {
        let scanner = Scanner::new(&[rule]);
        for times in [2_500, 10_000] {
            let anchors: String = rule.anchors().flat_map(|anchor| [anchor, " "]).collect();
            let text = format!("```sh\n{}\n```\n", anchors.repeat(times));
            group.throughput(Throughput::Bytes(text.len() as u64));
            let tree = Tree::of_file("SKILL.md", text);
            group.bench_with_input(BenchmarkId::new(rule.id, times), &tree, |bencher, tree| {
                bencher.iter(|| scanner.scan(tree));
            });
        }
    }
    group.finish();
}
