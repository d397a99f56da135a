"""The columns of the tables under results/: which there are, and which hold text."""

_TEXT = (
    "also attack bounds by call card claim class column does entropy event evidence explanation "
    "kind law layer location measure mechanism neighbours over printed promise promised "
    "quantity release remedy repetition sampler seed simulation source specimen subject truth "
    "unsafe variant verdict"
)

TEXT = frozenset(_TEXT.split())
"""Whatever they look like: 0.10 is a release. A scale is text where it can be a rational."""

_COLUMNS = {
    "claims": ("source location claim verdict evidence"),
    "comparison": (
        "source location quantity published ours ours_low ours_high expected expected_sd "
        "deviation_sigma verdict our_deviation_sigma printed"
    ),
    "dptext/losses": (
        "mechanism epsilon dimension repeats n00 n01 n10 n11 loss loss_low loss_high exact_loss "
        "published_loss published_repeats z_exact verdict z_published detectable_loss"
    ),
    "dptext/repeatability": ("repetition value value_low value_high exact repeats"),
    "dptext/performance": (
        "simulation dimension repeats draws nanoseconds_per_draw standard_error peak_mb own_mb "
        "ratio_to_numpy draws_per_second time_exponent memory_exponent"
    ),
    "opendp/releases": (
        "release scale samples mean variance mean_z chi2 dof p chi2_pooled dof_pooled p_pooled "
        "claimed_epsilon realised_epsilon_exact realised_epsilon_low verdict worst_x "
        "worst_x_loss detectable_epsilon outside_3sigma chi2_folded dof_folded p_folded "
        "expected_chi2 expected_chi2_sd expected_variance expected_variance_sd event_size "
        "event_epsilon event_epsilon_low event_epsilon_high event_detectable spike spike_excess "
        "spike_excess_low spike_excess_high spike_excess_exact"
    ),
    "opendp/layers": (
        "variant entropy scale samples layer mean theory_mean mean_z mean_p chi2 dof p "
        "chi2_pooled dof_pooled p_pooled expected_mean_z expected_chi2 expected_chi2_sd "
        "published_mean_z published_chi2 verdict variance expected_variance "
        "expected_variance_sd"
    ),
    "opendp/plrv": (
        "source scale x count_x count_next loss loss_low loss_high exact_loss bound "
        "within_3sigma alpha"
    ),
    "opendp/performance": (
        "sampler batch draws microseconds_per_draw standard_error ratio_to_first "
        "ratio_standard_error scale rounds bytes_per_draw entropy_bytes"
    ),
    "opendp/growth": (
        "sampler batch draws microseconds_per_draw standard_error over scale bytes_per_draw "
        "entropy_bytes"
    ),
    "opendp/realised_privacy": (
        "scale sensitivity claimed_epsilon realised_epsilon ratio realised_delta"
    ),
    "opendp/composition": (
        "scale draws delta claimed_epsilon fixed_epsilon_low fixed_epsilon_high "
        "faulty_epsilon_low faulty_epsilon_high"
    ),
    "opendp/reach": (
        "mechanism call release scale draws verdict measure claimed exact exact_high certified "
        "draws_needed epsilon_at_delta delta_exact deviation detectable_deviation chi2 dof p "
        "expected_chi2 expected_chi2_sd chi2_faulty dof_faulty p_faulty expected_chi2_faulty "
        "expected_chi2_sd_faulty"
    ),
    "opendp/deep_draws": (
        "variant entropy scale samples mean variance mean_z chi2 dof p chi2_pooled dof_pooled "
        "p_pooled claimed_epsilon realised_epsilon_exact realised_epsilon_low verdict "
        "worst_x worst_x_loss detectable_epsilon outside_3sigma chi2_folded dof_folded "
        "p_folded expected_chi2 expected_chi2_sd expected_variance expected_variance_sd "
        "event_size event_epsilon event_epsilon_low event_epsilon_high event_detectable spike "
        "spike_excess spike_excess_low spike_excess_high spike_excess_exact"
    ),
    "opendp/false_alarms": (
        "alpha traces draws alarms rate rate_low rate_high chance_of_as_many verdict"
    ),
    "dpecdf/audit": (
        "attack subject neighbours repeats seen seen_neighbour claimed_epsilon loss loss_low "
        "loss_high exact_loss detectable_epsilon verdict promise does remedy promised"
    ),
    "dpecdf/agreement": (
        "kind values epsilon bins bounds seed original ours agreement explanation"
    ),
    "dpecdf/utility": (
        "column class over epsilon bins rows repetitions ks ks_low ks_high w1 w1_low w1_high"
    ),
    "dpecdf/performance": (
        "class fit_seconds fit_standard_error fit_ratio fit_ratio_error quantile_seconds "
        "quantile_standard_error quantile_ratio quantile_ratio_error noise_seconds "
        "noise_standard_error noise_ratio noise_ratio_error rows bins rounds"
    ),
    "dpecdf/false_alarms": (
        "alpha audits repeats alarms rate rate_low rate_high chance_of_as_many verdict"
    ),
    "audits/verdicts": (
        "card subject claim verdict by unsafe epsilon_low claimed event p_left p_right draws "
        "seconds detectable law_p law_period law certified paid found_after also"
    ),
    "audits/power": (
        "specimen mechanism truth alpha runs found draws draws_tenth draws_median draws_ninth"
    ),
    "audits/false_alarms": (
        "alpha audits draws alarms rate rate_low rate_high chance_of_as_many verdict"
    ),
}
"""By study and name; claims and comparisons are alike in all studies, deep draws of any number."""


def of(study: str, name: str) -> list[str]:
    """The columns of a study's table; none if the table is not one of results/."""
    stem = name.partition("-")[0]
    return (_COLUMNS.get(f"{study}/{stem}") or _COLUMNS.get(stem, "")).split()


def tabulated() -> list[str]:
    """Study and name of every table."""
    return list(_COLUMNS)
